package bwrap

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/sandbox"
)

func TestACommandRunsAndItsExitStatusIsKept(t *testing.T) {
	r, root := newRunner(t), project(t)
	c := command(root, "cat; echo out; echo err >&2; pwd > where; exit 7")
	var out, errs bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader("in\n"), &out, &errs
	exit, _ := try(t, r, c)
	if exit != (sandbox.Exit{Code: 7}) || out.String() != "in\nout\n" || errs.String() != "err\n" {
		t.Errorf("%+v, %q, %q", exit, out.String(), errs.String())
	}
	if data, err := os.ReadFile(filepath.Join(root, "where")); err != nil || string(data) != root+"\n" {
		t.Errorf("%q, %v", data, err)
	}
	if exit, _ := try(t, r, command(root, "kill -TERM $$")); exit.Code != 128+15 {
		t.Errorf("ended by a signal: %+v", exit)
	}
	missing := command(root, "")
	missing.Argv = []string{"/no/such/program"}
	if exit, _ := try(t, r, missing); exit.Code != 127 {
		t.Errorf("a program that is not there: %+v", exit)
	}
	tidy(t, root, root)
}

// What is handed over, and nothing else.
func TestNothingIsInherited(t *testing.T) {
	secret, err := os.Open("/etc")
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	leak, err := dupInherited(secret)
	if err != nil {
		t.Fatal(err)
	}
	defer leak.Close()
	t.Setenv("API_TOKEN", "secret")
	r, root := newRunner(t), project(t)
	exit, out := try(t, r, command(root, "env; tr '\\0' '\\n' < /proc/1/environ; tr '\\0' ' ' < /proc/1/cmdline; exec 3<>/dev/tty"))
	if exit.Code == 0 {
		t.Error("there is a terminal")
	}
	if strings.Contains(out, "secret") || strings.Contains(out, root+" ") {
		t.Errorf("too much is known inside:\n%s", out)
	}
	if _, out := try(t, r, command(root, "ls /proc/self/fd")); out != "0\n1\n2\n3\n" { // 3 is the list itself
		t.Errorf("descriptors inside:\n%s", out)
	}
}

func TestMistakesAreRefused(t *testing.T) {
	r, root := newRunner(t), project(t)
	change := func(f func(*sandbox.Command)) sandbox.Command {
		c := command(root, "touch ran")
		f(&c)
		return c
	}
	link := filepath.Join(root, "link")
	if err := os.Symlink("/etc", link); err != nil {
		t.Fatal(err)
	}
	withLink := project(t)
	if err := os.Symlink("/etc", filepath.Join(withLink, ".git")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]sandbox.Command{
		"no command":               change(func(c *sandbox.Command) { c.Argv = nil }),
		"a folder that is not":     change(func(c *sandbox.Command) { c.Dir = root + "/no" }),
		"a zero byte":              change(func(c *sandbox.Command) { c.Argv = []string{"sh", "a\x00--bind"} }),
		"a zero byte in a value":   change(func(c *sandbox.Command) { c.Env = []string{"A=\x00--bind"} }),
		"no variable":              change(func(c *sandbox.Command) { c.Env = []string{"A"} }),
		"a root that is not there": change(func(c *sandbox.Command) { c.Profile = profile(root + "/no") }),
		"a root that is a link":    change(func(c *sandbox.Command) { c.Profile = profile(link) }),
		"a root below a link":      change(func(c *sandbox.Command) { c.Profile = profile(link + "/apt") }),
		"a .git that is a link":    change(func(c *sandbox.Command) { c.Profile = profile(withLink) }),
		"the kernel's own":         change(func(c *sandbox.Command) { c.Profile = profile("/proc/self") }),
		"devices":                  change(func(c *sandbox.Command) { c.Profile = profile("/dev") }),
		"everything":               change(func(c *sandbox.Command) { c.Profile = profile("/") }),
	} {
		if _, err := sandbox.Run(t.Context(), r, c); err == nil {
			t.Errorf("%s: it ran", name)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "ran")); err == nil {
		t.Error("something ran")
	}
	tidy(t, root, root)
}

func TestWhatBubblewrapSaysIsTold(t *testing.T) {
	r := New(Program{Path: "/bin/false"}, reexec.Argv("sweep"))
	t.Cleanup(func() { r.Close() })
	root := project(t)
	if _, err := sandbox.Run(t.Context(), r, command(root, "true")); !errors.Is(err, ErrNotSetUp) {
		t.Error(err)
	}
	tidy(t, root, root)
}

func TestAContextThatEndedStartsNothing(t *testing.T) {
	r, root := newRunner(t), project(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if exit, err := sandbox.Run(ctx, r, command(root, "touch ran")); err == nil && exit.Ended != sandbox.EndingCancelled {
		t.Errorf("%+v", exit)
	}
	if _, err := os.Stat(filepath.Join(root, "ran")); err == nil {
		t.Error("it ran")
	}
	tidy(t, root, root)
}

// Two commands in one folder share the placeholder; the one that ends first leaves it to
// the other.
func TestPlaceholdersAreShared(t *testing.T) {
	first, second, root := newRunner(t), newRunner(t), project(t)
	hold := command(root, "echo there; read line; mkdir -p .git/hooks && echo evil > .git/hooks/x")
	in, out, pipes := pipes(t)
	hold.Stdin, hold.Stdout = in, out
	p, err := first.Start(t.Context(), hold)
	if err != nil {
		t.Fatal(err)
	}
	pipes.await(t, "there")
	works(t, second, root) // comes and goes
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Fatalf("the second command took the first one's placeholder: %v", err)
	}
	pipes.say(t, "go\n")
	if exit, err := p.Wait(); err != nil || exit.Code == 0 {
		t.Errorf("%+v, %v", exit, err)
	}
	tidy(t, root, root)
}

// A placeholder that a crash left behind is used and removed; a folder that somebody made
// stays.
func TestOldPlaceholdersAreRecognised(t *testing.T) {
	r, root := newRunner(t), project(t)
	p, err := hold(filepath.Join(root, ".git"), false)
	if err != nil {
		t.Fatal(err)
	}
	p.lock.Close() // as if killed
	works(t, r, root)
	tidy(t, root, root)

	own := filepath.Join(root, ".git")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	works(t, r, root)
	if _, err := os.Stat(own); err != nil {
		t.Errorf("somebody's folder is gone: %v", err)
	}
}
