package main

import (
	"fmt"
	"net/http/cgi"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// quietNetwork is a policy under which what is held runs, and one port of this machine is a
// host that was agreed to.
const quietNetwork = `sandbox:
  paths:
    notes: {mode: rw, approval: allow}
  network: {allow: ["localhost:PORT"]}
shell:
  cwd: notes
  default: {approval: ask, when_sandboxed: allow}
`

// remote serves a bare repository over http, and makes a folder a repository with two remotes:
// that one, and one on a host that nobody agreed to.
func remote(t *testing.T, dir string) (bare, port string) {
	t.Helper()
	top := t.TempDir()
	bare = filepath.Join(top, "repo.git")
	path, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&cgi.Handler{
		Path: strings.TrimSpace(string(path)) + "/git-http-backend", Env: []string{"GIT_PROJECT_ROOT=" + top, "GIT_HTTP_EXPORT_ALL=1"},
	})
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	git(t, "", "init", "-q", "--bare", "-b", "main", bare)
	git(t, bare, "config", "http.receivepack", "true")
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "remote", "add", "origin", "http://localhost:"+u.Port()+"/repo.git")
	git(t, dir, "remote", "add", "other", "https://git.elsewhere.test/repo.git")
	git(t, dir, "add", ".")
	git(t, dir, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "one")
	return bare, u.Port()
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %s", args, out)
	}
	return string(out)
}

// A push to a host that was agreed to runs without a question; one to another host asks with
// the host's name, while it runs, and a no fails that push alone.
// S51 Only that host.
func TestOnlyThatHost_Push(t *testing.T) {
	s := tell(t, quietNetwork, []call{command("a", "git push -q origin main")}, []call{command("b", "git push -q other main")})
	bare, port := remote(t, filepath.Join(s.dir, "notes"))
	s.put("policy.yaml", strings.ReplaceAll(quietNetwork, "PORT", port))
	x := s.run()
	x.asked("Connect to git.elsewhere.test:443", "git push -q other main")
	if got := git(t, bare, "log", "--format=%s", "main"); got != "one\n" {
		t.Errorf("pushed %q", got)
	}
	x.types("n")
	x.ends(0, "✓ shell: free", "git.elsewhere.test", "That was all.")
}

// The same behind a gateway: the question stays in the inbox, and a yes holds for the next try.
func TestMCPPushByName(t *testing.T) {
	policy, dir := notesPolicy(t, "")
	bare, port := remote(t, dir)
	text := strings.ReplaceAll(strings.Replace(quietNetwork, "{mode: rw", "{root: ./notes, mode: rw", 1), "PORT", port)
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	c := startMCP(t, assent(t, nil, "mcp", "--state", state, "-c", policy, "--tools", "shell"))
	if got := c.call("shell", `{"command":"git push -q origin main"}`); !strings.Contains(got, `"exit_code":0`) {
		t.Fatalf("%s", got)
	}
	if got := git(t, bare, "log", "--format=%s", "main"); got != "one\n" {
		t.Errorf("pushed %q", got)
	}
	got := c.call("shell", `{"command":"git push -q other main"}`)
	if !strings.Contains(got, "git.elsewhere.test:443") || !strings.Contains(got, "stays open") {
		t.Errorf("%s", got)
	}
	out, err := assent(t, nil, "pending", "--state", state).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Connect to git.elsewhere.test:443 for: git push -q other main") {
		t.Errorf("%v: %s", err, out)
	}
	list, err := assent(t, nil, "audit", "list", "--state", state).CombinedOutput()
	if err != nil || !strings.Contains(string(list), fmt.Sprintf("connect(localhost:%s)", port)) {
		t.Errorf("%v: %s", err, list)
	}
}
