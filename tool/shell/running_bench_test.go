package shell

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/system"
	"github.com/assent-dev/assent/tool/shell/wire"
)

// BenchmarkStart is what the judgement of one program costs that a running command is about
// to start: median and 99th percentile.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	set, err := roots.New(roots.Options{Home: dir}, roots.Root{Name: ".", Host: dir, Mode: roots.ModeReadWrite})
	if err != nil {
		b.Fatal(err)
	}
	defer set.Close()
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir}
	for name, argv := range map[string][]string{
		"free": {"cat", "a.txt"}, "approved": {"rm", "-f", "a.txt"}, "git": {"git", "status"}, "unknown": {"make", "all"},
	} {
		b.Run(name, func(b *testing.B) {
			var times []time.Duration
			t, err := New(Config{Readonly: true}, set, Options{
				World:       func(dir string) analysis.World { return system.New(dir, env) },
				Unsupported: func(string) string { return "" },
				Run: func(ctx context.Context, c Command) (Result, error) {
					program := system.New(dir, env).Program(argv[0])
					for b.Loop() {
						began := time.Now()
						answer := c.Judge(ctx, wire.Act{Kind: wire.Start, Argv: argv, Path: program, Dir: dir, Input: wire.Empty}, func() func() { return func() {} })
						times = append(times, time.Since(began))
						if answer.Verdict != wire.Go {
							b.Fatalf("%+v", answer)
						}
					}
					return Result{}, nil
				},
			})
			if err != nil {
				b.Fatal(err)
			}
			g, err := tool.Guard(approval.Config{Mode: policy.ModeAsk, Approver: approvaltest.Script(approvaltest.Yes)}, t)
			if err != nil {
				b.Fatal(err)
			}
			defer g.Close()
			text := analysis.QuoteWords(argv)
			if r := tool.Call(b.Context(), g, policy.Call{ID: "1", Tool: "shell", Arguments: fmt.Appendf(nil, "{\"command\":%q}", text)}); r.Err != nil {
				b.Fatal(r.Err)
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds())/1000, "median-µs")
			b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds())/1000, "p99-µs")
		})
	}
}
