package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/bridgetest"
	"github.com/assent-dev/assent/internal/team/link"
)

// A teamScene is a machine with the real programs, an administrator's file of its own, and a team with a server.
type teamScene struct {
	*testing.T
	top, state string
	program    string
	team       *bridgetest.Team
	server     *bridgetest.Server
	known      []*approval.Request
	said       *bytes.Buffer // by the call that is asked about
}

func newTeamScene(t *testing.T) *teamScene {
	t.Helper()
	team := bridgetest.New("ann", "bob", "cleo")
	server := bridgetest.Serve(team)
	server.Publish()
	t.Cleanup(server.Close) // after the bridge has ended
	s := newMachineScene(t)
	s.team, s.server = team, server
	return s
}

// newMachineScene is the machine alone.
func newMachineScene(t *testing.T) *teamScene {
	t.Helper()
	s := &teamScene{T: t, top: t.TempDir()}
	s.state = filepath.Join(s.top, "state", "assent")
	s.program = filepath.Join(s.top, "bin", "assent")
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-s -w -X "+
		"github.com/assent-dev/assent/internal/setup.Administrator="+s.admin(), "-o", filepath.Dir(s.program)+"/", ".", "../assent-hook")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range map[string]string{
		"project/.assent/policy.yaml": "version: 1\nsandbox:\n  paths:\n    .: {root: ., mode: rw}\n",
		"admin/.keep":                 "",
	} {
		file := filepath.Join(s.top, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A bridge that some door started ends when the machine has left.
	t.Cleanup(func() {
		_ = os.Remove(filepath.Join(s.state, "team", "machine.json"))
		for over := time.After(patience); link.Runs(s.state); {
			select {
			case <-over:
				t.Error("the bridge does not end")
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	return s
}

func (s *teamScene) admin() string { return filepath.Join(s.top, "admin", "policy.yaml") }

func (s *teamScene) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	s.Cleanup(cancel)
	c := exec.CommandContext(ctx, s.program, args...)
	c.Dir = filepath.Join(s.top, "project")
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.top, "TMPDIR=" + s.top, "XDG_STATE_HOME=" + filepath.Join(s.top, "state"),
		"XDG_CONFIG_HOME=" + filepath.Join(s.top, "config"), "LANG=C.UTF-8"}
	return c
}

func (s *teamScene) run(args ...string) (string, error) {
	out, err := s.command(args...).CombinedOutput()
	return string(out), err
}

func (s *teamScene) must(args ...string) string {
	s.Helper()
	out, err := s.run(args...)
	if err != nil {
		s.Fatalf("assent %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// join makes the machine a member, whose team the administrator trusts. What the machine's project says is trusted.
func (s *teamScene) join() {
	s.Helper()
	s.must("trust", "--yes", ".")
	s.must("join", s.server.URL, "--token", s.server.Token())
	s.server.Publish() // the machine is in it
	if err := os.WriteFile(s.admin(), []byte(s.team.Admin()), 0o600); err != nil {
		s.Fatal(err)
	}
	s.waitJoined()
}

// waitJoined waits until the machine has the newest policy, in which it is.
func (s *teamScene) waitJoined() {
	s.Helper()
	s.waitStatus("connected", fmt.Sprintf("policy %d, confirmed", s.team.Bundle.Serial))
}

// asked waits for the next question at the server.
func (s *teamScene) asked() (r *approval.Request) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	if !s.server.Wait(ctx.Done(), func(v bridgetest.View) bool {
		for id, q := range v.Asked() {
			if !slices.ContainsFunc(s.known, func(k *approval.Request) bool { return k.ID == id }) {
				r = q
			}
		}
		return r != nil
	}) {
		log, _ := os.ReadFile(filepath.Join(s.state, "team", "bridge.log"))
		s.Fatalf("no question came to the server; the bridge says %q, the call %q", log, s.said)
	}
	s.known = append(s.known, r)
	return r
}

// A machine that joins although --trust cannot do its part says both, and exits with an error.
func TestJoinThatCannotAddTheKey(t *testing.T) {
	s := newTeamScene(t)
	if err := os.WriteFile(s.admin(), []byte("{version: 1, rules: [deny read_file(x)]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := s.run("join", s.server.URL, "--token", s.server.Token(), "--trust", s.team.Trust)
	if err == nil || !strings.Contains(out, "joined Acme as g_1") || !strings.Contains(out, "--trust could not add the team's key") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestATeamAnswers(t *testing.T) {
	s := newTeamScene(t)
	// Nothing is changed by a join that the server refuses, or that is not one.
	for _, bad := range [][]string{
		{"join", s.server.URL, "--token", "wrong"}, {"join", s.server.URL}, {"join", "http://example.org", "--token", "x"},
		{"join", s.server.URL, "--token", "x", "--ca", "/nowhere"}, {"join", s.server.URL, "--token", "x", "--trust", "no-key"},
		{"leave"}, {"bridge"},
	} {
		if out, err := s.run(bad...); err == nil || !strings.HasPrefix(out, "assent: ") {
			t.Errorf("assent %s: %v\n%s", strings.Join(bad, " "), err, out)
		}
	}
	if os.Getuid() == 0 { // with sudo it would be root who joins
		c := s.command("join", s.server.URL, "--token", "x")
		c.Env = append(c.Env, "SUDO_USER=ann")
		if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "run this without sudo, as ann") {
			t.Errorf("with sudo: %v\n%s", err, out)
		}
	}
	if _, err := os.Stat(s.state); err == nil {
		t.Error("a join that was refused left something behind")
	}
	s.server.NewToken("token-2")
	out := s.must("join", s.server.URL, "--token", "token-2")
	if !strings.Contains(out, "joined Acme as g_1") || !strings.Contains(out, "trust: \"KEY\"") {
		t.Errorf("join says\n%s", out)
	}
	if info, err := os.Stat(filepath.Join(s.state, "team", "machine.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("machine.json: %v, %v", info, err)
	}
	if out, err := s.run("join", s.server.URL, "--token", "token-2"); err == nil || !strings.Contains(out, "already") {
		t.Errorf("joining again: %v\n%s", err, out)
	}
	if out := s.must("status"); !strings.Contains(out, "no team.trust") {
		t.Errorf("status says\n%s", out)
	}
	if out, err := s.run("doctor"); err == nil || !strings.Contains(out, "ask the team for its key, and add it to "+s.admin()) {
		t.Errorf("doctor says %v\n%s", err, out)
	}
	// The machine is in the next bundle, and the administrator trusts the team.
	s.server.Publish()
	if err := os.WriteFile(s.admin(), []byte(s.team.Admin()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.waitJoined()
	s.waitStatus("0 requests wait there")

	var took []time.Duration
	for i := range 5 {
		file := fmt.Sprintf("new-%d.txt", i)
		c := s.command("call", "-c", ".assent/policy.yaml", "write_file", fmt.Sprintf(`{"path":%q,"content":"x"}`, file))
		var said bytes.Buffer
		c.Stdout, c.Stderr = &said, &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		s.said = &said
		r := s.asked()
		if r.Routing == nil || r.Routing.Sponsor != "p_ann" {
			t.Errorf("it is for %+v", r.Routing)
		}
		began := time.Now()
		s.server.Vote("bob", r, r.Approve(""))
		if err := c.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, &said)
		}
		took = append(took, time.Since(began))
		if _, err := os.Stat(filepath.Join(s.top, "project", file)); err != nil {
			t.Errorf("%v\n%s", err, &said)
		}
		if !strings.Contains(said.String(), "waiting for the team") {
			t.Errorf("it says\n%s", &said)
		}
	}
	t.Logf("vote at the server until the command has ended: %v", took)

	// A denial by the team.
	c := s.command("call", "-c", ".assent/policy.yaml", "write_file", `{"path":"denied.txt","content":"x"}`)
	denied := make(chan error, 1)
	go func() { denied <- c.Run() }()
	r := s.asked()
	s.server.Vote("ann", r, r.Deny("no"))
	if err := <-denied; err == nil || c.ProcessState.ExitCode() != exitDenied {
		t.Errorf("denied: %v", err)
	}
	s.hook()

	if out := s.must("leave"); !strings.Contains(out, "has left acme") || !strings.Contains(out, "still names the team") {
		t.Errorf("leave says\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(s.state, "team", "machine.json")); err == nil {
		t.Error("the key is still there")
	}
	if out, err := s.run("call", "-c", ".assent/policy.yaml", "write_file", `{"path":"after.txt","content":"x"}`); err == nil {
		t.Errorf("after it left a call ran:\n%s", out)
	}
}

// waitStatus waits until 'assent status' says all of this.
func (s *teamScene) waitStatus(words ...string) {
	s.Helper()
	out := ""
	for over := time.After(patience); ; {
		out = s.must("status")
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(out, w) }) {
			return
		}
		select {
		case <-over:
			s.Fatalf("status never said %q:\n%s", words, out)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// hook has an agent's call answered by the team, through assent-hook.
func (s *teamScene) hook() {
	s.Helper()
	for _, words := range []string{"it would ask the people that the team's policy names", "this needs 1 of sre, with a device"} {
		if out := s.must("explain", "--for", "claude-code", "git push"); !strings.Contains(out, words) {
			s.Errorf("explain does not say %q:\n%s", words, out)
		}
	}
	event, err := json.Marshal(map[string]any{
		"session_id": "one", "hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": filepath.Join(s.top, "project"),
		"tool_input": map[string]string{"file_path": filepath.Join(s.top, "project", "hooked.txt"), "content": "x"},
	})
	if err != nil {
		s.Fatal(err)
	}
	c := s.command()
	c.Path, c.Args = filepath.Join(filepath.Dir(s.program), "assent-hook"), []string{"assent-hook", "claude-code"}
	c.Stdin = bytes.NewReader(event)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	r := s.asked()
	if r.Routing == nil || r.Routing.Agent == "" {
		s.Errorf("it is for %+v", r.Routing)
	}
	s.server.Vote("bob", r, r.Approve(""))
	if err := c.Wait(); err != nil || !strings.Contains(said.String(), `"allow"`) {
		s.Errorf("the hook: %v\n%s", err, &said)
	}
}
