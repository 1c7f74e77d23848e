package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// BenchmarkRecord compares 64 who record at once with one who waits for the disk
// each time, in one run.
func BenchmarkRecord(b *testing.B) {
	var alone float64
	for _, c := range []struct {
		name    string
		writers int
		opt     store.Options
	}{
		{"writers=1/fsync=all", 1, store.Options{SyncAll: true}},
		{"writers=1/fsync=people", 1, store.Options{}},
		{"writers=64/fsync=people", 64, store.Options{}},
		{"writers=64/fsync=all", 64, store.Options{SyncAll: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			rate := recorded(b, c.opt, c.writers, b.N)
			if alone == 0 || c.opt.SyncAll && c.writers == 1 {
				alone = rate
			}
			b.ReportMetric(rate, "events/s")
			b.ReportMetric(rate/alone, "x-one-fsync-each")
		})
	}
}

// recorded returns how many of n events a second so many writers record.
func recorded(b *testing.B, opt store.Options, writers, n int) float64 {
	b.Helper()
	s := openStore(b, b.TempDir(), opt)
	b.ResetTimer()
	begun := time.Now()
	recordMany(b, s, writers, n)
	return float64(n) / time.Since(begun).Seconds()
}

func recordMany(b *testing.B, s *store.Store, writers, n int) {
	b.Helper()
	var next atomic.Int64
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if err := s.Record(context.Background(), eventOf(int(i))); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// events is how many events the large store has.
const events = 1_000_000

// large fills a store with 100 rules and many events, once for all benchmarks.
var large = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "assent-bench")
	if err != nil {
		return "", err
	}
	afterwards = func() { os.RemoveAll(folder) }
	ctx := context.Background()
	s, err := store.Open(ctx, folder, store.Options{})
	if err != nil {
		return "", err
	}
	var rules []policy.Rule
	for i := range 100 {
		rules = append(rules, numbered(i))
	}
	if err := s.AddRules(ctx, rules...); err != nil {
		return "", err
	}
	if err := approvaltest.Fill(ctx, s, events); err != nil {
		return "", err
	}
	return folder, s.Close()
})

func largeStore(b *testing.B) string {
	b.Helper()
	folder, err := large()
	if err != nil {
		b.Fatal(err)
	}
	return folder
}

// BenchmarkNewProcess is what a hook costs: a process that opens a large store,
// reads its rules and decides a call. It says itself how long that took since it
// began; the whole process is measured too, beside one that does nothing.
func BenchmarkNewProcess(b *testing.B) {
	folder := largeStore(b)
	var inside, whole, nothing []time.Duration
	for b.Loop() {
		_, took := ran(b, exec.Command("true"))
		nothing = append(nothing, took)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), jobEnv+"=hook", folderEnv+"="+folder)
		out, took := ran(b, cmd)
		whole = append(whole, took)
		said := strings.Fields(out)
		took, err := time.ParseDuration(said[len(said)-1])
		if err != nil {
			b.Fatalf("%v in %q", err, out)
		}
		inside = append(inside, took)
	}
	b.ReportMetric(milliseconds(median(inside)), "ms-to-decide")
	b.ReportMetric(milliseconds(median(whole)), "ms-process")
	b.ReportMetric(float64(median(whole))/float64(median(nothing)), "x-true")
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

func ran(b *testing.B, cmd *exec.Cmd) (string, time.Duration) {
	b.Helper()
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return string(out), time.Since(begun)
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// BenchmarkOpen is the same without the process.
func BenchmarkOpen(b *testing.B) {
	folder := largeStore(b)
	for b.Loop() {
		s, err := store.Open(b.Context(), folder, store.Options{})
		if err == nil {
			_, err = s.Rules(b.Context())
		}
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

// BenchmarkCall is what a call of a program that runs on costs the store: rules and
// grants are looked at three times, its start and its end are recorded.
func BenchmarkCall(b *testing.B) {
	s := openStore(b, largeStore(b), store.Options{})
	ctx := b.Context()
	if err := s.BeginSession(ctx, hook("s")); err != nil {
		b.Fatal(err)
	}
	before := used()
	for i := 0; b.Loop(); i++ {
		started, ended := eventOf(i), eventOf(i)
		started.Kind, started.Stage = approval.EventStarted, approval.StageExecuting
		for _, f := range []func() error{
			func() error { return look(ctx, s) },
			func() error { return look(ctx, s) },
			func() error { return s.Record(ctx, started) },
			func() error { return look(ctx, s) },
			func() error { return s.Record(ctx, ended) },
		} {
			if err := f(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64((used()-before).Microseconds())/float64(b.N), "µs-cpu")
}

// look reads what a gate reads for a judgement.
func look(ctx context.Context, s *store.Store) error {
	_, err := s.Rules(ctx)
	_, e := s.Grants(ctx, "s")
	return errors.Join(err, e)
}

// BenchmarkRules is what the rules cost for every decision when nothing changed.
func BenchmarkRules(b *testing.B) {
	s := openStore(b, largeStore(b), store.Options{})
	for b.Loop() {
		if _, err := s.Rules(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLast50 lists the newest records of a large store.
func BenchmarkLast50(b *testing.B) {
	s := openStore(b, largeStore(b), store.Options{})
	for b.Loop() {
		n := 0
		for _, err := range s.Records(b.Context(), approval.RecordFilter{Last: 50}) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 50 {
			b.Fatalf("%d records", n)
		}
	}
}

// BenchmarkVerify reads a large store.
func BenchmarkVerify(b *testing.B) {
	s := openStore(b, largeStore(b), store.Options{})
	for b.Loop() {
		if v, err := s.Verify(b.Context()); err != nil || !v.OK() {
			b.Fatalf("%+v, %v", v, err)
		}
	}
	b.ReportMetric(events*float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkAnswer is how long an answer from another process takes to reach who
// waits for it.
func BenchmarkAnswer(b *testing.B) {
	folder := b.TempDir()
	s := openStore(b, folder, store.Options{})
	start(b, "answer", folder)
	var took []time.Duration
	for b.Loop() {
		r := approvaltest.Requests(b, 1, "s")[0]
		if err := s.Post(b.Context(), r); err != nil {
			b.Fatal(err)
		}
		p, err := s.Await(b.Context(), r.ID)
		if err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(p.Settled.At))
	}
	b.ReportMetric(milliseconds(median(took)), "ms-median")
	b.ReportMetric(milliseconds(took[len(took)*99/100]), "ms-p99")
}

// BenchmarkRuleReaches is how long a new rule takes to be known in a process that waits.
func BenchmarkRuleReaches(b *testing.B) {
	folder := b.TempDir()
	s := openStore(b, folder, store.Options{})
	p := start(b, "watch", folder)
	p.line()
	var took []time.Duration
	for b.Loop() {
		r := numbered(0)
		if err := s.AddRules(b.Context(), r); err != nil {
			b.Fatal(err)
		}
		added := time.Now()
		p.line()
		took = append(took, time.Since(added))
		if err := s.RemoveRule(b.Context(), r.ID); err != nil {
			b.Fatal(err)
		}
		p.line()
	}
	b.ReportMetric(milliseconds(median(took)), "ms-median")
	b.ReportMetric(milliseconds(took[len(took)*99/100]), "ms-p99")
}

// BenchmarkIdle is how much of a processor a process takes that waits for an
// answer.
func BenchmarkIdle(b *testing.B) {
	s := openStore(b, b.TempDir(), store.Options{})
	r := approvaltest.Requests(b, 1, "s")[0]
	if err := s.Post(b.Context(), r); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		ctx, cancel := context.WithTimeout(b.Context(), 2*time.Second)
		before, begun := used(), time.Now()
		s.Await(ctx, r.ID)
		b.ReportMetric(100*float64(used()-before)/float64(time.Since(begun)), "%cpu")
		cancel()
	}
}

func used() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(fmt.Sprint("rusage: ", err))
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
