package rulebook_test

import (
	"fmt"
	"testing"

	"github.com/assent-dev/assent/internal/rulebook"
)

// BenchmarkSuggest looks through logs of different lengths.
func BenchmarkSuggest(b *testing.B) {
	for _, prompts := range []int{1000, 10000} {
		var cases []rulebook.Case
		for i := range prompts {
			cases = append(cases, approved(command(2, fmt.Sprintf("git log -%d", i%500))), approved(file("write_file", fmt.Sprintf("notes/%d/%d.md", i%20, i))))
		}
		b.Run(fmt.Sprintf("prompts=%d", prompts), func(b *testing.B) {
			for b.Loop() {
				rulebook.Suggest(cases, rulebook.SuggestOptions{Now: now})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(cases)), "ns/prompt")
		})
	}
}
