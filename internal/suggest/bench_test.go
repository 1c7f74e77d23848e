package suggest_test

import (
	"fmt"
	"testing"

	"github.com/assent-dev/assent/internal/replay"
	"github.com/assent-dev/assent/internal/suggest"
)

// BenchmarkFind looks through logs of different lengths.
func BenchmarkFind(b *testing.B) {
	for _, prompts := range []int{1000, 10000} {
		var cases []replay.Case
		for i := range prompts {
			cases = append(cases, approved(command(2, fmt.Sprintf("git log -%d", i%500))), approved(file("write_file", fmt.Sprintf("notes/%d/%d.md", i%20, i))))
		}
		b.Run(fmt.Sprintf("prompts=%d", prompts), func(b *testing.B) {
			for b.Loop() {
				suggest.Find(cases, suggest.Options{Now: now})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(cases)), "ns/prompt")
		})
	}
}
