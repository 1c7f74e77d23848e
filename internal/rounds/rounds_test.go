package rounds_test

import (
	"testing"

	"github.com/assent-dev/assent/internal/rounds"
)

func TestN(t *testing.T) {
	for value, want := range map[string]int{"": 3, "full": 900, "short": 3, "FULL": 3} {
		t.Run(value, func(t *testing.T) {
			t.Setenv(rounds.Variable, value)
			if got := rounds.N(3, 900); got != want {
				t.Errorf("with %s=%q: N(3, 900) = %d, want %d", rounds.Variable, value, got, want)
			}
		})
	}
}
