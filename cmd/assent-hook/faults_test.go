package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/assent-dev/assent/store"
)

// A machine is where the program runs as an agent would start it.
type machine struct {
	t            *testing.T
	program, top string
	env          map[string]string
}

func newMachine(t *testing.T, program string) *machine {
	top := t.TempDir()
	m := &machine{t: t, program: program, top: top, env: map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": top, "XDG_STATE_HOME": filepath.Join(top, "state"), "XDG_CONFIG_HOME": filepath.Join(top, "config"),
	}}
	m.write("project/a", "")
	return m
}

func (m *machine) write(name, text string) {
	m.t.Helper()
	file := filepath.Join(m.top, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// ask has the program judge a command that does nothing but list names.
func (m *machine) ask(args ...string) (status int, stdout, stderr string) {
	m.t.Helper()
	c := exec.Command(m.program, append([]string{"claude-code"}, args...)...)
	c.Dir = filepath.Join(m.top, "project")
	for name, value := range m.env {
		c.Env = append(c.Env, name+"="+value)
	}
	c.Stdin = strings.NewReader(`{"session_id":"s","cwd":"` + c.Dir + `","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"ls"}}`)
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := c.Run(); err != nil && !errors.As(err, &exit) {
		m.t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

func (m *machine) wantAllowed() {
	m.t.Helper()
	if status, out, errs := m.ask(); status != 0 || !strings.Contains(out, `"allow"`) {
		m.t.Fatalf("status %d, %s%s; want it allowed", status, out, errs)
	}
}

func (m *machine) wantBlocked(why string, args ...string) {
	m.t.Helper()
	status, out, errs := m.ask(args...)
	if status != 2 || out != "" || !strings.Contains(errs, why) {
		m.t.Errorf("status %d, %q, %q; want status 2 and %q", status, out, errs, why)
	}
}

// TestWhateverIsWrongWithTheMachineBlocks starts from what is allowed and takes one thing
// away.
func TestWhateverIsWrongWithTheMachineBlocks(t *testing.T) {
	program := build(t, t.TempDir())
	for name, c := range map[string]struct {
		spoil func(*machine)
		why   string
	}{
		"no home":                {func(m *machine) { m.env = map[string]string{"PATH": m.env["PATH"]} }, "$HOME is not defined"},
		"a home that is nowhere": {func(m *machine) { m.env = map[string]string{"HOME": "home"} }, "not an absolute path"},
		"config is a folder":     {func(m *machine) { m.write("config/assent/config.yaml/a", "") }, "is not a regular file"},
		"config is cut off":      {func(m *machine) { m.write("config/assent/config.yaml", "rules: [deny") }, "config.yaml:1"},
		"policy is a folder":     {func(m *machine) { m.write("project/.assent/policy.yaml/a", "") }, "policy.yaml"},
		"state is a file":        {func(m *machine) { m.env["XDG_STATE_HOME"] = filepath.Join(m.top, "project/a") }, "not a directory"},
		"the store is text":      {func(m *machine) { m.write("state/assent/"+store.FileName, "text") }, store.FileName},
		"the store is held":      {hold, "another process holds it"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t, program)
			m.wantAllowed()
			c.spoil(m)
			m.wantBlocked(c.why)
		})
	}
}

// hold locks the store as SQLite does for who wants it alone.
func hold(m *machine) {
	f, err := os.OpenFile(filepath.Join(m.top, "state/assent", store.FileName), os.O_RDWR, 0)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { f.Close() })
	const sharedFirst, sharedSize = 0x40000002, 510
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: sharedFirst, Len: sharedSize}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &lock); err != nil {
		m.t.Fatal(err)
	}
}

// TestAMachineWithoutConfigIsFine has neither folder yet: the defaults hold, and the store
// is made.
func TestAMachineWithoutConfigIsFine(t *testing.T) {
	m := newMachine(t, build(t, t.TempDir()))
	m.env = map[string]string{"PATH": m.env["PATH"], "HOME": filepath.Join(m.top, "home")}
	m.wantAllowed()
	m.wantBlocked("no answer within", "--deadline", "1ns")
}
