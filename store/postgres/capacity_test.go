//go:build all && teame2e && linux

package postgres_test

import (
	"testing"

	"github.com/assent-dev/assent/internal/pgtest"
	"github.com/assent-dev/assent/internal/rounds"
)

// One PostgreSQL that writes to disk takes 5,000 answers a second, each in a commit of its own. Of several turns the best one
// counts: other work on the computer makes a turn slower, and nothing makes one faster than it can be.
func TestAnswersPerSecond(t *testing.T) {
	least := float64(rounds.N(1500, 5000)) // on every change other tests run beside it
	p := manyConnections(t, pgtest.Start(t, pgtest.Options{Durable: true}).DSN())
	best := 0.0
	for range 5 {
		answered, plain := answers(t, p)
		t.Logf("%.0f answers/s, %.0f plain updates/s", answered, plain)
		best = max(best, answered)
	}
	if best < least {
		t.Errorf("%.0f answers/s; there must be %.0f", best, least)
	}
}
