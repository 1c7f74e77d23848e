package runner_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/tool/shell/runner"
	"github.com/assent-dev/assent/tool/shell/wire"
)

// watcher cancels a context when the command says a word.
type watcher struct {
	word   string
	cancel context.CancelFunc
}

func (w watcher) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(w.word)) {
		w.cancel()
	}
	return len(p), nil
}

// cancelAt runs a command that is cancelled when it prints "ready".
func cancelAt(t *testing.T, text string, change ...func(*prepared)) runner.Result {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := command(t, text)
	c.Progress = watcher{"ready", cancel}
	for _, f := range change {
		f(&c)
	}
	r, err := runner.Run(ctx, c.Command, c.Options)
	must(t, err)
	return r
}

// ended waits until a process has ended: a pidfd becomes readable then.
func ended(t *testing.T, text string) {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(text))
	must(t, err)
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	must(t, err)
	defer unix.Close(fd)
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 30_000); n != 1 {
		t.Errorf("process %d still runs (%v)", pid, err)
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

func TestTimeout(t *testing.T) {
	c := command(t, "sleep 1000 & echo $!; wait")
	var r runner.Result
	for c.Timeout = 200 * time.Millisecond; r.Stdout.Text == ""; c.Timeout *= 2 { // a slow machine gets more
		r = run(t, c)
	}
	if r.Ending != runner.TimedOut || r.ExitCode != 143 || r.Signal != "SIGTERM" || !strings.Contains(r.Problem(), "time ran out") {
		t.Errorf("%+v, %q", r, r.Problem())
	}
	ended(t, r.Stdout.Text)
}

func TestCancel(t *testing.T) {
	r := cancelAt(t, "echo ready; sleep 1000")
	if r.Ending != runner.Cancelled || r.Stdout.Text != "ready\n" || !strings.Contains(r.Problem(), "cancelled") {
		t.Errorf("%+v, %q", r, r.Problem())
	}
}

// What ends in time after SIGTERM may still say something.
func TestGrace(t *testing.T) {
	r := cancelAt(t, "trap 'echo tidied; exit 9' TERM; echo ready; while :; do sleep 1000 & wait; done")
	if r.Ending != runner.Cancelled || r.ExitCode != 9 || r.Stdout.Text != "ready\ntidied\n" {
		t.Errorf("%+v", r)
	}
}

func TestIgnoredSignals(t *testing.T) {
	r := cancelAt(t, "trap '' TERM INT HUP; sleep 1000 & echo $!; echo ready; wait; wait; sleep 1000; sleep 1000")
	if r.Ending != runner.Cancelled || r.Signal != "SIGKILL" || r.ExitCode != 137 {
		t.Errorf("%+v", r)
	}
	ended(t, strings.Fields(r.Stdout.Text)[0])
}

// Processes that leave the group or the session end as well.
func TestStrays(t *testing.T) {
	for name, text := range map[string]string{
		"another session":         `setsid sh -c 'trap "" TERM; echo $$; echo ready; exec sleep 1000' & wait`,
		"another session, quiet":  `setsid sh -c 'echo $$; exec sleep 1000 > /dev/null 2>&1 < /dev/null' & echo ready; wait`,
		"another group":           `set -m; sh -c 'echo $$; exec sleep 1000' & echo ready; wait`,
		"another environment":     `set -m; env -i sh -c 'echo $$; exec sleep 1000' & echo ready; wait`,
		"nohup":                   `nohup sh -c 'echo $$; exec sleep 1000' 2> /dev/null & echo ready; wait`,
		"a daemon of its own":     `(setsid sh -c 'echo $$; exec sleep 1000' &); echo ready; exec sleep 1000`,
		"its parent ended before": `sh -c 'setsid sh -c "echo \$\$; exec sleep 1000" & exit'; echo ready; exec sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			// Both lines are there before it is cancelled.
			text := strings.Replace(text, "echo ready", "while [ ! -s pid ]; do :; done; cat pid; echo ready", 1)
			text = strings.NewReplacer("echo $$", "echo $$ > pid", `echo \$\$`, `echo \$\$ > pid`).Replace(text)
			r := cancelAt(t, text, func(c *prepared) { c.Bash = strings.HasPrefix(text, "set -m") })
			if r.Ending != runner.Cancelled {
				t.Fatalf("%+v", r)
			}
			ended(t, strings.Fields(r.Stdout.Text)[0])
		})
	}
}

// A process in the background that keeps the output open does not hold us, and lives on.
func TestBackground(t *testing.T) {
	r := run(t, command(t, "sleep 1000 & echo $!"))
	if r.Ending != runner.Exited || r.ExitCode != 0 || !r.Background {
		t.Errorf("%+v", r)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(r.Stdout.Text))
	must(t, err)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Errorf("it is gone: %v", err)
	}
	ended(t, r.Stdout.Text)
	if r := run(t, command(t, "sleep 1000 > /dev/null 2>&1 & echo $!; kill $!")); r.Background {
		t.Errorf("%+v", r)
	}
	if r := run(t, command(t, "yes & echo $! >&2")); !r.Background {
		t.Errorf("%+v", r)
	} else {
		ended(t, r.Stderr.Text) // nobody reads it any more
	}
}

// What still runs is told, however it got away; what ends with bash is not.
func TestWhatStillRunsIsTold(t *testing.T) {
	const one = "1 process left in the background (sleep)"
	for name, tt := range map[string]struct{ text, left string }{
		"a job":           {"sleep 1000 > /dev/null 2>&1 & echo $! > pid", one},
		"holds output":    {"sleep 1000 & echo $! > pid", one},
		"another session": {"setsid sh -c 'echo $$ > pid; exec sleep 1000' > /dev/null 2>&1 &", one},
		"two forks":       {"(setsid sh -c 'echo $$ > pid; exec sleep 1000' > /dev/null 2>&1 &)", one},
		"no hangup":       {"nohup sh -c 'trap \"\" TERM HUP; echo $$ > pid; exec sleep 1000' > /dev/null 2>&1 &", one},
		"nothing":         {"echo 1 > pid", ""},
		"awaited":         {"sleep 0.01 & wait; echo 1 > pid", ""},
		"killed":          {"sleep 1000 > /dev/null 2>&1 & kill $!; wait; echo 1 > pid", ""},
	} {
		t.Run(name, func(t *testing.T) {
			asleep := "\nuntil [ -s pid ]; do :; done"
			if tt.left != "" {
				asleep += "; until [ $(cat /proc/$(cat pid)/comm) = sleep ]; do :; done"
			}
			c := command(t, tt.text+asleep)
			r := run(t, c)
			if r.Left != tt.left {
				t.Errorf("%+v", r)
			}
			pid, err := os.ReadFile(filepath.Join(c.Dir, "pid"))
			must(t, err)
			if n, _ := strconv.Atoi(strings.TrimSpace(string(pid))); n > 1 {
				must(t, unix.Kill(n, unix.SIGKILL))
				ended(t, string(pid))
			}
		})
	}
}

// Nothing of ours is left after many commands, however they end: no goroutine, no
// descriptor, no child.
func TestNothingIsLeft(t *testing.T) {
	run(t, command(t, "true"))
	routines, descriptors := runtime.NumGoroutine(), openDescriptors(t)
	for i := range 20 {
		c := command(t, []string{"true", "echo x; exit 1", "kill -9 $$", "sleep 1000", "sleep 0.7 &"}[i%5])
		c.Timeout = 600 * time.Millisecond
		run(t, c)
	}
	for began := time.Now(); runtime.NumGoroutine() > routines && time.Since(began) < 30*time.Second; {
		runtime.Gosched() // those that are about to end
	}
	if got := runtime.NumGoroutine(); got > routines {
		t.Errorf("%d goroutines, were %d", got, routines)
	}
	if got := openDescriptors(t); got > descriptors {
		t.Errorf("%d descriptors, were %d", got, descriptors)
	}
	threads, err := filepath.Glob("/proc/self/task/*/children")
	must(t, err)
	for _, name := range threads {
		if children, _ := os.ReadFile(name); len(children) > 0 {
			t.Errorf("children %s", children)
		}
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(entries)
}

// A group in the background goes on when its text has ended, and is still judged.
func TestBackgroundGroup(t *testing.T) {
	c := command(t, "(until [ -e go ]; do sleep 0.01; done; echo x > made; forbidden; echo > after) > /dev/null 2>&1 & echo now")
	judge := c.Judge
	refused := make(chan struct{})
	c.Judge = func(ctx context.Context, act wire.Act, pause func() func()) wire.Answer {
		if act.Kind == wire.Open && strings.HasSuffix(act.Path, "/after") {
			close(refused)
			return wire.Answer{Why: "no"}
		}
		return judge(ctx, act, pause)
	}
	began := time.Now()
	r := run(t, c)
	if r.Ending != runner.Exited || r.Stdout.Text != "now\n" || time.Since(began) > 10*time.Second {
		t.Fatalf("%+v", r)
	}
	must(t, os.WriteFile(filepath.Join(c.Dir, "go"), nil, 0o600))
	select {
	case <-refused:
	case <-time.After(time.Minute):
		t.Fatal("it did not go on")
	}
	if text, err := os.ReadFile(filepath.Join(c.Dir, "made")); err != nil || string(text) != "x\n" {
		t.Errorf("%q %v", text, err)
	}
}
