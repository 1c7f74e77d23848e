package approval_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/assent-dev/assent/approval"
)

func TestAgain(t *testing.T) {
	other := errors.New("something else")
	for name, c := range map[string]struct {
		changes int // before it holds still
		end     error
		want    error
		tries   int
	}{
		"at once":          {0, nil, nil, 1},
		"after a change":   {1, nil, nil, 2},
		"at the last time": {9, nil, nil, 10},
		"never":            {10, nil, approval.ErrKeepsChanging, 10},
		"another error":    {3, other, other, 4},
	} {
		tries := 0
		err := approval.Again(func() error {
			if tries++; tries <= c.changes {
				return fmt.Errorf("the file: %w", approval.ErrChanged)
			}
			return c.end
		})
		if !errors.Is(err, c.want) || tries != c.tries {
			t.Errorf("%s: %v after %d tries, want %v after %d", name, err, tries, c.want, c.tries)
		}
	}
	if errors.Is(approval.ErrKeepsChanging, approval.ErrChanged) {
		t.Error("what was given up would be tried again")
	}
}
