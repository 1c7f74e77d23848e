package bwrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/sandbox"
)

// patience is how long a test waits for something to happen.
const patience = time.Minute

// The test program is also the processes that a runner starts, and programs to be killed.
func TestMain(m *testing.M) {
	reexec.Main(map[string]reexec.Role{
		"sweep":  func([]string) error { return Sweep(os.Stdin) },
		"victim": reexec.Exits(func(args []string) int { return victim(args[0], args[1:]) }),
	})
	os.Exit(m.Run())
}

// victim runs a command with a writable root, and is meant to be killed.
func victim(root string, argv []string) int {
	r := New(find(), reexec.Argv("sweep"))
	defer r.Close()
	_, err := sandbox.Run(context.Background(), r, sandbox.Command{
		Argv: argv, Dir: root, Env: []string{"PATH=/usr/bin:/bin"}, Stdout: os.Stdout, Stderr: os.Stderr,
		Profile: sandbox.Profile{Roots: []sandbox.Root{{Path: root, Mode: sandbox.ModeReadWrite, Guarded: true}}},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func find() Program {
	p, problem := Find(context.Background(), Candidates)
	if problem != nil {
		panic(fmt.Sprintf("%+v", *problem))
	}
	return p
}

func newRunner(t *testing.T) *Runner {
	t.Helper()
	r := New(find(), reexec.Argv("sweep"))
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// project is a folder with an absent .git and .assent.
func project(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func profile(root string) sandbox.Profile {
	return sandbox.Profile{Roots: []sandbox.Root{{Path: root, Mode: sandbox.ModeReadWrite, Guarded: true}}}
}

func command(root, script string) sandbox.Command {
	return sandbox.Command{
		Argv: []string{"/bin/sh", "-c", script}, Dir: root, Env: []string{"PATH=/usr/bin:/bin", "HOME=/home/nobody"}, Profile: profile(root),
	}
}

// try runs a script and returns how it ended and what it printed.
func try(t *testing.T, r *Runner, c sandbox.Command) (sandbox.Exit, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out bytes.Buffer
	if c.Stdout == nil {
		c.Stdout, c.Stderr = &out, &out
	}
	exit, err := sandbox.Run(ctx, r, c)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return exit, out.String()
}

// works fails the test unless an ordinary command still works.
func works(t *testing.T, r *Runner, root string) {
	t.Helper()
	exit, out := try(t, r, command(root, "echo still here"))
	if exit != (sandbox.Exit{}) || out != "still here\n" {
		t.Errorf("the next command: %+v, %q", exit, out)
	}
}

// tidy fails the test if something is left of commands in the root: a process that has
// the word in its command line, a mount, or a placeholder.
func tidy(t *testing.T, root, word string) {
	t.Helper()
	for _, name := range []string{".git", ".assent"} {
		if _, err := os.Lstat(filepath.Join(root, name)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left behind: %v", name, err)
		}
	}
	if pids := withWord(t, word); len(pids) > 0 {
		t.Errorf("processes are left behind: %v", pids)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil || strings.Contains(string(mounts), root) {
		t.Errorf("a mount is left behind: %v", err)
	}
}

// withWord lists the processes that have a word in their command line.
func withWord(t *testing.T, word string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var pids []string
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err == nil && bytes.Contains(data, []byte(word)) && f != fmt.Sprintf("/proc/%d/cmdline", os.Getpid()) {
			pids = append(pids, f)
		}
	}
	return pids
}

// eventually waits until nothing is left, looking as often as the machine lets it.
func eventually(t *testing.T, what string, left func() string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for text := left(); text != ""; text = left() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v: %s", what, patience, text)
		}
	}
}

// startVictim starts a program that runs a command, and returns its output.
func startVictim(t *testing.T, root string, argv ...string) (*exec.Cmd, io.Reader) {
	t.Helper()
	cmd := reexec.Command("victim", append([]string{root}, argv...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}
