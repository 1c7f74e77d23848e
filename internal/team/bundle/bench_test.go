package bundle_test

import (
	"testing"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/team/bundle"
)

// What it costs to take up a bundle of 10,000 rules.
func BenchmarkLargeBundle(b *testing.B) {
	tm := newTeam(b, "acme")
	data := tm.sign(b, large(b, 10_000))
	b.Logf("%d bytes", len(data))
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			if _, err := bundle.Open(data, tm.trust); err != nil {
				b.Fatal(err)
			}
		}
	})
	opened, err := bundle.Open(data, tm.trust)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("policy", func(b *testing.B) {
		for b.Loop() {
			if _, err := config.LoadSigned(opened.Name(), opened.Policy); err != nil {
				b.Fatal(err)
			}
		}
	})
}
