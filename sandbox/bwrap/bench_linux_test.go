package bwrap

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/sandbox/seccomp"
)

// spawns is how many of each kind one round of BenchmarkSpawn starts.
const spawns = 200

// BenchmarkSpawn starts a program that does nothing, in turns: plainly, in bare bubblewrap
// with the same mounts, and by a Runner. It reports medians, the Runner's over bare
// bubblewrap's, and the Runner's 95th percentile.
func BenchmarkSpawn(b *testing.B) {
	root, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	r := New(find(), reexec.Argv("sweep"))
	defer r.Close()
	for b.Loop() {
		var plain, bare, full []time.Duration
		for range spawns {
			plain = append(plain, timed(b, func() error { return exec.Command("/bin/true").Run() }))
			bare = append(bare, timed(b, bareSpawn(b, r, root)))
			full = append(full, timed(b, func() error {
				_, err := sandbox.Run(context.Background(), r, benchCommand(root))
				return err
			}))
		}
		for _, list := range [][]time.Duration{plain, bare, full} {
			slices.Sort(list)
		}
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		b.ReportMetric(ms(plain[spawns/2]), "plain-ms")
		b.ReportMetric(ms(bare[spawns/2]), "bare-ms")
		b.ReportMetric(ms(full[spawns/2]), "runner-ms")
		b.ReportMetric(ms(full[spawns*95/100]), "p95-ms")
		b.ReportMetric(float64(full[spawns/2])/float64(bare[spawns/2]), "runner/bare")
	}
}

func timed(b *testing.B, f func() error) time.Duration {
	b.Helper()
	start := time.Now()
	if err := f(); err != nil {
		b.Fatal(err)
	}
	return time.Since(start)
}

func benchCommand(root string) sandbox.Command {
	c := command(root, "")
	c.Argv = []string{"/bin/true"}
	return c
}

// bareSpawn prepares bubblewrap with the mounts of a Runner and nothing else of it.
func bareSpawn(b *testing.B, r *Runner, root string) func() error {
	b.Helper()
	for _, name := range []string{".git", ".assent"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			b.Fatal(err)
		}
		defer os.Remove(filepath.Join(root, name))
	}
	c := benchCommand(root)
	layout, err := launch.Survey(c.Profile)
	if err != nil {
		b.Fatal(err)
	}
	args := Plan(Request{Layout: layout, Argv: c.Argv, Dir: c.Dir, Env: c.Env, Root: os.Geteuid() == 0}, exists)
	code, err := seccomp.Assemble(seccomp.Options{Arch: runtime.GOARCH, Internet: true})
	if err != nil {
		b.Fatal(err)
	}
	return func() error {
		for _, name := range []string{".git", ".assent"} {
			if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
				return err
			}
		}
		filter, err := memory("filter", seccomp.Bytes(code))
		if err != nil {
			return err
		}
		files := []*os.File{filter, filter, filter, filter, filter}
		for _, o := range args.Open {
			f, err := os.Open(o.Path)
			if err != nil {
				return err
			}
			defer f.Close()
			files = append(files, f)
		}
		defer filter.Close()
		options := strings.ReplaceAll(strings.Join(args.Options, "\x00"), "--seccomp\x004\x00--json-status-fd\x005", "--seccomp\x004")
		cmd := exec.Command(r.program.Path, append(append(strings.Split(options, "\x00"), "--"), c.Argv...)...)
		cmd.Env, cmd.ExtraFiles = []string{}, files
		err = cmd.Run()
		for _, name := range []string{".git", ".assent"} {
			os.Remove(filepath.Join(root, name))
		}
		return err
	}
}
