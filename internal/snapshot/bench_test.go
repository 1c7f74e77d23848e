package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkClean is what both looks cost in a clean repository whose files are in the cache.
func BenchmarkClean(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 50_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := newLab(b)
			for i := range n {
				name := filepath.Join(l.dir, fmt.Sprintf("d%d/e%d/file%d.go", i/1000, i/20%50, i))
				must(b, os.MkdirAll(filepath.Dir(name), 0o755))
				must(b, os.WriteFile(name, fmt.Appendf(nil, "package p%d\n", i), 0o644))
			}
			l.sh("git init -q . && git config gc.auto 0 && git config maintenance.auto false && printf 'node_modules/\n*.o\n' > .gitignore && " + commit)
			l.settle()
			l.store.Clock = func() time.Time { return time.Now().Add(time.Minute) } // when times say something
			l.run("true")
			for name, whole := range map[string]bool{"before": false, "both": true} {
				b.Run(name, func(b *testing.B) {
					cpu, rounds, best := used(b), 0.0, time.Hour
					for b.Loop() {
						rounds++
						start := time.Now()
						after, err := l.roots.Before(b.Context(), anything)
						must(b, err)
						if !whole {
							b.StopTimer()
							best = min(best, time.Since(start))
						}
						if kept, err := after(b.Context()); err != nil || kept.ID != "" {
							b.Fatal(kept, err)
						}
						if whole {
							best = min(best, time.Since(start))
						}
						b.StartTimer()
					}
					// On a machine that does other things as well the best round says most.
					b.ReportMetric(float64(best.Microseconds())/float64(n), "best-ms/1000files")
					b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "ms/1000files")
					if whole {
						b.ReportMetric(float64((used(b)-cpu).Microseconds())/rounds/float64(n), "cpu-ms/1000files")
					}
				})
			}
			if got := objects(b, l.store); got > 0 {
				b.Fatalf("%d copies", got)
			}
		})
	}
}

// used is the processor time of this process.
func used(b *testing.B) time.Duration {
	var u unix.Rusage
	must(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
