package detect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/bwrap"
	"github.com/assent-dev/assent/sandbox/landlock"
	"github.com/assent-dev/assent/sandbox/rpc"
)

// The test program is also the processes that runners start.
func TestMain(m *testing.M) {
	reexec.Main(map[string]reexec.Role{
		"inner": reexec.Exits(func(args []string) int {
			if err := innerMain(args[0]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 125
			}
			return 0
		}),
		"stranger": reexec.Exits(func(args []string) int { return stranger(args[0]) }),
	})
	os.Exit(m.Run())
}

// stranger is a program that hands itself over for the work of a sandbox and does not know
// the words: it does what it always does, and notes that in a file.
func stranger(file string) int {
	if f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0); err == nil {
		fmt.Fprintln(f, "started")
		f.Close()
	}
	_, err := Detect(context.Background(), Options{Program: reexec.Argv("stranger", file)}, sandbox.Profile{})
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// A program that is not what it was taken for fails, and does not start itself without end.
func TestAStrangersProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "starts")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	program := options(t).Program[0]
	cmd := exec.CommandContext(t.Context(), program, "stranger", file)
	cmd.WaitDelay = 30 * time.Second
	out, _ := cmd.CombinedOutput() // ends when everybody who holds it has
	if !strings.Contains(string(out), "no usable OS sandbox was found") || !strings.Contains(string(out), "does not do that work") {
		t.Errorf("%s", out)
	}
	starts, err := os.ReadFile(file)
	if n := strings.Count(string(starts), "started"); err != nil || n < 2 || n > 5 {
		t.Errorf("%d starts, %v", n, err)
	}
}

func innerMain(word string) error {
	switch word {
	case WordServe:
		s := rpc.NewServer()
		Register(s)
		return s.Serve(os.Stdin, os.Stdout)
	case WordSweep:
		return bwrap.Sweep(os.Stdin)
	case WordLandlock:
		return landlock.Apply()
	}
	return errors.New("unknown word " + word)
}

func options(t testing.TB) Options {
	t.Helper()
	return Options{Program: reexec.Argv("inner")}
}

func find(t testing.TB, o Options, p sandbox.Profile) Found {
	t.Helper()
	found, err := Detect(context.Background(), o, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := found.Close(); err != nil {
			t.Error(err)
		}
	})
	return found
}

func rooted(t testing.TB, mode sandbox.Mode) (string, sandbox.Profile) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir, sandbox.Profile{Roots: []sandbox.Root{{Path: dir, Mode: mode, Guarded: true, Source: "policy.yaml:3"}}}
}

func TestBubblewrapIsFoundAndHolds(t *testing.T) {
	dir, p := rooted(t, sandbox.ModeReadWrite)
	found := find(t, options(t), p)
	if found.Report.Name != "bwrap" || found.Report.Version == "" || len(found.Report.Enforced) == 0 {
		t.Errorf("%+v", found.Report)
	}
	if len(found.Reports) != 2 || found.Reports[1].Usable() || !strings.Contains(found.Reports[1].Problem.Cause, "protecting .git") {
		t.Errorf("Landlock with a writable root: %+v", found.Reports)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("the self-test left %v, %v", left, err)
	}
}

// How long a command may run and how much it may print says nothing about the sandbox.
func TestTheLimitsOfACommandAreNotThoseOfTheSelfTest(t *testing.T) {
	_, p := rooted(t, sandbox.ModeReadWrite)
	p.Limits.Time, p.Limits.Output = time.Nanosecond, 1
	if found := find(t, options(t), p); !found.Report.Usable() {
		t.Errorf("%+v", found.Report)
	}
}

func TestNothingUsable(t *testing.T) {
	_, p := rooted(t, sandbox.ModeReadWrite)
	o := options(t)
	o.Bubblewrap = []string{"/no/such/bwrap"}
	_, err := Detect(t.Context(), o, p)
	var none *sandbox.UnusableError
	if !errors.As(err, &none) {
		t.Fatal(err)
	}
	for _, words := range []string{"bwrap: bubblewrap is not installed", "apt-get install bubblewrap", "landlock", "policy.yaml:3"} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("%q does not say %q", err, words)
		}
	}
}

func TestLandlockIsTakenWhereItCanHoldTheProfile(t *testing.T) {
	_, p := rooted(t, sandbox.ModeReadOnly)
	o := options(t)
	o.Bubblewrap = []string{}
	found := find(t, o, p)
	if found.Report.Name != "landlock" || !found.Report.Weaker {
		t.Errorf("%+v", found.Report)
	}
}

func TestAFaultOfTheProfileIsNotTheSandboxs(t *testing.T) {
	p := sandbox.Profile{Roots: []sandbox.Root{{Path: "/no/such/root", Mode: sandbox.ModeReadOnly, Source: "policy.yaml:9"}}}
	_, err := Detect(t.Context(), options(t), p)
	if err == nil || errors.As(err, new(*sandbox.UnusableError)) || !strings.Contains(err.Error(), "policy.yaml:9") {
		t.Error(err)
	}
}

// Programs that could be somebody else's, or start with somebody else's rights.
func TestDistrustedPrograms(t *testing.T) {
	script := []byte("#!/bin/sh\necho bubblewrap 0.9.0\n")
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		mode  fs.FileMode
		text  []byte
		words string
	}{
		"setuid":           {0o755 | fs.ModeSetuid, script, "setuid"},
		"setgid":           {0o755 | fs.ModeSetgid, script, "setuid"},
		"others may write": {0o777, script, "others can write"},
		"old":              {0o755, bytes.ReplaceAll(script, []byte("0.9"), []byte("0.6")), "too old"},
		"does not start":   {0o644, script, "does not start"},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, tt.text, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, tt.mode); err != nil {
			t.Fatal(err)
		}
		_, problem := bwrap.Find(t.Context(), []string{"/no/such", file})
		if problem == nil || !strings.Contains(problem.Cause, tt.words) && os.Geteuid() == 0 || problem.Remedy == "" {
			t.Errorf("%s: %+v", name, problem)
		}
	}
}

// leaky runs commands without holding them.
type leaky struct{ sandbox.Runner }

func TestASandboxThatDoesNotHoldIsNotUsed(t *testing.T) {
	dir, p := rooted(t, sandbox.ModeReadOnly)
	wide := leaky{find(t, options(t), p).Runner}
	c := &candidate{runner: wide, report: sandbox.Report{Name: "leaky"}, diagnose: unlessProfile}
	if err := c.try(t.Context(), options(t), p); err != nil || c.report.Usable() {
		t.Fatalf("%v, %+v", err, c.report)
	}
	for _, words := range []string{"connected", "read /etc/"} {
		if !strings.Contains(c.report.Problem.Detail, words) {
			t.Errorf("%q does not say %q", c.report.Problem.Detail, words)
		}
	}
	_ = dir
}

// Start gives away more than it was asked for.
func (l leaky) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	c.Profile.Network.On = true
	c.Profile.Roots = append(c.Profile.Roots, sandbox.Root{Path: "/etc", Mode: sandbox.ModeReadOnly})
	return l.Runner.Start(ctx, c)
}

// The file tools' way: what the profile does not show cannot be read, whoever asks.
func TestInnerIsHeld(t *testing.T) {
	dir, p := rooted(t, sandbox.ModeReadOnly)
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	client := startInner(t, p)
	if data, err := client.ReadFile(t.Context(), filepath.Join(dir, "a"), 100); err != nil || string(data) != "content" {
		t.Errorf("%q, %v", data, err)
	}
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{outside, "/etc/shadow", dir + "/../../../../etc/shadow", fmt.Sprintf("/proc/%d/environ", os.Getppid())} {
		if _, err := client.ReadFile(t.Context(), file, 1<<20); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func startInner(t testing.TB, p sandbox.Profile) *rpc.Client {
	t.Helper()
	o := options(t)
	found := find(t, o, p)
	serve := o.program(WordServe)
	client, err := rpc.Start(context.Background(), found.Runner, sandbox.Command{Argv: serve, Dir: "/", Profile: rpc.Visible(p, serve[0])})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

// BenchmarkInnerRead reads 4 KB through the process inside.
func BenchmarkInnerRead(b *testing.B) {
	dir, p := rooted(b, sandbox.ModeReadOnly)
	file := filepath.Join(dir, "a")
	if err := os.WriteFile(file, make([]byte, 4096), 0o600); err != nil {
		b.Fatal(err)
	}
	client := startInner(b, p)
	for b.Loop() {
		if data, err := client.ReadFile(b.Context(), file, 1<<20); err != nil || len(data) != 4096 {
			b.Fatal(len(data), err)
		}
	}
}
