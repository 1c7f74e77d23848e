package main

import (
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/mcptest"
)

// A prober is a connector that tries what it is told to, and what it is to try.
type prober struct {
	project, outside, port string
	attempts               []attempt
}

// An attempt is a probe: what and where, and whether a sandbox lets it pass.
type attempt struct {
	what, where string
	passes      bool
}

// newProber makes a project and things outside of it.
func newProber(t *testing.T) prober {
	t.Helper()
	// Not below /tmp: that is private inside.
	top, err := os.MkdirTemp("/var/tmp", "assent-connector-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if entries, err := filepath.Glob(top + "/project/notes/.[ag]*"); err != nil || len(entries) > 0 {
			t.Errorf("left behind: %q %v", entries, err)
		}
		os.RemoveAll(top)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	p := prober{project: filepath.Join(top, "project"), outside: filepath.Join(top, "outside"), port: listener.Addr().String()}
	for file, text := range map[string]string{
		"project/notes/a.md": "a note", "project/notes/.env": "TOKEN=1", "project/notes/denied.md": "denied",
		"outside/secret": "a secret", "outside/config/x": "",
	} {
		file = filepath.Join(top, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	notes := filepath.Join(p.project, "notes")
	p.attempts = []attempt{
		{"read", notes + "/a.md", true}, {"write", notes + "/b.md", true},
		{"read", notes + "/.env", false}, {"read", notes + "/denied.md", false},
		{"read", p.outside + "/secret", false}, {"write", p.outside + "/made", false},
		{"write", p.project + "/a.worker", false}, {"write", p.project + "/policy.yaml", false},
		{"write", notes + "/.git/config", false}, {"write", notes + "/.assent/x", false},
		{"connect", p.port, false},
	}
	return p
}

// policy is a policy with the connector, sandboxed or not, and more in its sandbox block.
func (p prober) policy(sandboxed bool, more string) string {
	return fmt.Sprintf("sandbox:\n  paths: {notes: {root: ./notes, mode: rw}}\n%sconnectors:\n%srules: [allow connector prober, deny read_file(notes/denied.md)]\n",
		more, mcpServer("prober", mcptest.Prober, fmt.Sprintf(", sandboxed: %v", sandboxed)))
}

func (p prober) put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.project, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (p prober) assent(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	c := assent(t, []string{"HOME=" + p.outside, "XDG_STATE_HOME=" + p.outside + "/state", "XDG_CONFIG_HOME=" + p.outside + "/config"}, args...)
	c.Dir = p.project
	return c
}

// A connector that is sandboxed reaches what commands may, without secrets, and nothing
// else.
func TestASandboxedConnector(t *testing.T) {
	t.Run("call", func(t *testing.T) {
		p := newProber(t)
		p.put(t, "policy.yaml", p.policy(true, ""))
		p.try(t, func(args string) string {
			out, _ := p.assent(t, "call", "--strict", "-c", "policy.yaml", "prober:try", args).CombinedOutput()
			return string(out)
		})
	})
	t.Run("mcp", func(t *testing.T) {
		p := newProber(t)
		p.put(t, "policy.yaml", p.policy(true, ""))
		c := startMCP(t, p.assent(t, "mcp", "-c", "policy.yaml", "--strict"))
		p.try(t, func(args string) string { return c.call("prober__try", args) })
	})
	t.Run("run", func(t *testing.T) {
		p := newProber(t)
		p.put(t, "a.worker", "---\nmodel: script:turns.yaml\n"+p.policy(true, "")+"---\nYou work.\n")
		p.try(t, func(args string) string {
			p.put(t, "turns.yaml", "turns:\n"+foreignCall("prober", "try", args)+"  - say: That was all.\n")
			if out, err := p.assent(t, "trust", "--yes", "a.worker").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			out, err := p.assent(t, "run", "--strict", "a.worker", "Go on.").CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			return string(out)
		})
	})
}

// One that is not reaches all of it.
func TestAConnectorWithoutASandbox(t *testing.T) {
	p := newProber(t)
	p.put(t, "policy.yaml", p.policy(false, ""))
	for i, a := range p.attempts {
		p.attempts[i].passes = !strings.Contains(a.where, "/notes/.") || strings.HasSuffix(a.where, ".env") // there is no such folder
	}
	c := startMCP(t, p.assent(t, "mcp", "-c", "policy.yaml", "--strict"))
	p.try(t, func(args string) string { return c.call("prober__try", args) })
}

// try makes the attempts, each by a call with these arguments, and looks at the host for
// what was written: what a server writes to its own private folders is nobody's business.
func (p prober) try(t *testing.T, call func(args string) string) {
	t.Helper()
	for _, a := range p.attempts {
		said := call(fmt.Sprintf(`{"what": %q, "where": %q}`, a.what, a.where))
		passed := strings.Contains(said, "managed to "+a.what)
		if data, err := os.ReadFile(a.where); a.what == "write" {
			passed = err == nil && string(data) == "by a server\n"
		}
		if passed != a.passes {
			t.Errorf("%s %s: %s", a.what, a.where, said)
		}
	}
}

// Where there is no sandbox, no connector that wants one starts, and nothing does where
// one is required: before anything runs, with status 4.
func TestConnectorsWithoutASandbox(t *testing.T) {
	const required = "  require_os_sandbox: true\n"
	for name, tt := range map[string]struct {
		sandboxed bool
		more      string
		status    int
		says      string
	}{
		"wanted":              {true, "", 1, "a connector is to be sandboxed: nothing was run: no usable OS sandbox was found"},
		"wanted and required": {true, required, 4, "policy.yaml:3 requires a sandbox (require_os_sandbox), but"},
		"required":            {false, required, 4, "policy.yaml:3 requires a sandbox (require_os_sandbox), but"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProber(t)
			p.put(t, "policy.yaml", p.policy(tt.sandboxed, tt.more))
			write := fmt.Sprintf(`{"what":"write","where":%q}`, p.project+"/notes/b.md")
			for _, cmd := range []*exec.Cmd{
				p.assent(t, "call", "--strict", "-c", "policy.yaml", "prober:try", write),
				p.assent(t, "mcp", "-c", "policy.yaml", "--strict"),
			} {
				cmd.Path, cmd.Args = "/usr/bin/unshare", append([]string{"unshare", "-U", "-r", "sh", "-c",
					`echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"`, "sh", cmd.Path}, cmd.Args[1:]...)
				out, _ := cmd.CombinedOutput()
				if got := cmd.ProcessState.ExitCode(); got != tt.status || !strings.Contains(string(out), tt.says) {
					t.Errorf("%q: status %d, want %d\n%s", cmd.Args[8:], got, tt.status, out)
				}
			}
			if _, err := os.Stat(p.project + "/notes/b.md"); err == nil {
				t.Error("the connector ran")
			}
		})
	}
}

// The connections of a connector that is sandboxed are decided about by name: a host that is
// listed is reached, others are put to people, and all of it is recorded.
func TestASandboxedConnectorConnectsByName(t *testing.T) {
	p := newProber(t)
	server := httptest.NewServer(nil) // it ends connections that their client has ended
	defer server.Close()
	address := server.Listener.Addr().String()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	p.put(t, "policy.yaml", p.policy(true, "  network: {allow: [\"localhost:"+port+"\"]}\n"))
	c := startMCP(t, p.assent(t, "mcp", "-c", "policy.yaml"))
	if got := c.call("prober__try", `{"what":"connect","where":"`+address+`"}`); !strings.Contains(got, "managed to connect") {
		t.Errorf("%s", got)
	}
	c.call("prober__try", `{"what":"connect","where":"elsewhere.test:80"}`) // the system takes it for connected before it is decided
	// What happens to a connection is told when it has happened, not when the call ends.
	for _, want := range []struct{ args, says string }{
		{"pending", "Connect to elsewhere.test:80 for: connector prober"}, {"audit list", "connect(localhost:" + port + ")"},
	} {
		for began := time.Now(); ; {
			out, err := p.assent(t, strings.Fields(want.args)...).CombinedOutput()
			if err == nil && strings.Contains(string(out), want.says) {
				break
			}
			if time.Since(began) > 30*time.Second {
				t.Errorf("%s: %v: %s", want.args, err, out)
				break
			}
		}
	}
}
