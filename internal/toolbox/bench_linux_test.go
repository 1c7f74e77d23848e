package toolbox_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox/rpc"
	"github.com/assent-dev/assent/tool/shell"
	"github.com/assent-dev/assent/tool/shell/runner"
	"github.com/assent-dev/assent/tool/shell/wire"
)

// BenchmarkShell runs commands in bubblewrap, in turns by bash and by the shell that
// interprets and asks, and reports medians and their ratio.
func BenchmarkShell(b *testing.B) {
	small := smallShell(b)
	w := newWorld(b, "sandbox: {paths: {.: {root: TOP/proj, mode: rw}}}")
	must(b, exec.Command("git", "-C", w.top+"/proj", "init", "-q").Run())
	hold, err := w.hold(w.box.Policy)
	must(b, err)
	env := runner.NewEnvironment([]string{"PATH=/usr/bin:/bin"}, nil)
	for name, text := range map[string]string{
		"builtin": "echo hi", "one": "cat /dev/null", "pipe": "ls -la | head -5", "three": "git status; ls; cat /dev/null",
		"loop": "for i in $(seq 100); do /bin/true; done",
	} {
		b.Run(name, func(b *testing.B) {
			var times, used [2][]time.Duration
			for b.Loop() {
				for i := range times {
					c := shell.Command{
						Text: text, Dir: w.top + "/proj", Bash: i == 0,
						Judge: func(context.Context, wire.Act, func() func()) wire.Answer { return wire.Answer{Verdict: wire.Go} },
					}
					o := runner.Options{Env: env, Sandbox: hold.Runner, Profile: rpc.Visible(hold.Profile, small), Shell: []string{small}}
					began, before := time.Now(), processorTime()
					r, err := runner.Run(b.Context(), c, o)
					must(b, err)
					times[i] = append(times[i], time.Since(began))
					used[i] = append(used[i], processorTime()-before)
					if r.ExitCode != 0 || r.Stopped != "" {
						b.Fatalf("%+v", r)
					}
				}
			}
			bash, shell := median(times[0]), median(times[1])
			b.ReportMetric(bash, "bash-ms")
			b.ReportMetric(shell, "shell-ms")
			b.ReportMetric(shell/bash, "ratio")
			b.ReportMetric(median(used[1])/median(used[0]), "processor-ratio")
		})
	}
}

// smallShell builds the shell as it is installed.
func smallShell(b *testing.B) string {
	b.Helper()
	small := filepath.Join(b.TempDir(), "assent-shell")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", small+".linked", "../../cmd/assent-shell")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	must(b, exec.Command("cp", small+".linked", small).Run())
	return small
}

// BenchmarkWall runs whole calls of the shell tool, in turns without and with the wall, and
// reports medians and their ratio.
func BenchmarkWall(b *testing.B) {
	small := smallShell(b)
	var boxes [2]*world
	for i := range boxes {
		w := newWorld(b, "sandbox: {paths: {.: {root: TOP/proj, mode: rw}}}")
		must(b, exec.Command("git", "-C", w.top+"/proj", "init", "-q").Run())
		w.write("proj/a", "a\n")
		w.without.Wall = i == 0
		w.small = small
		w.box = w.open(everydayPolicy, nil)
		boxes[i] = w
	}
	for name, text := range map[string]string{
		"reads": "cat a", "reads three": "git status; ls; cat a | head", "writes": "cat a > b", "replaces": "cp a c; sed -i s/a/b/ c; rm c", "opaque": "bash -c 'true' x y; python3 -c 1",
	} {
		b.Run(name, func(b *testing.B) {
			var times [2][]time.Duration
			for b.Loop() {
				for i, w := range boxes {
					began := time.Now()
					r := w.call(policy.ModeApproveAll, nil, "shell", map[string]any{"command": text})
					times[i] = append(times[i], time.Since(began))
					if got, ok := r.Value.(shell.Result); !ok || got.ExitCode != 0 {
						b.Fatalf("%s %v", r.Text, r.Err)
					}
				}
			}
			plain, walled := median(times[0]), median(times[1])
			b.ReportMetric(plain, "plain-ms")
			b.ReportMetric(walled, "wall-ms")
			b.ReportMetric(walled/plain, "ratio")
		})
	}
}

// median is in milliseconds.
func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2].Microseconds()) / 1000
}

// processorTime is what this process and those that it waited for have used.
func processorTime() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}
