package terminal

import (
	"testing"

	"github.com/assent-dev/assent/approval"
)

// An inbox may be told of a change after its last question was answered elsewhere.
func TestWhatIsToldAfterTheEnd(t *testing.T) {
	r := &approval.Request{ID: "a"}
	s, _ := newState(options{}, 80, 24, []*approval.Request{r}, start)
	s, _ = s.update(settledEvent{look: 1})
	if !s.over {
		t.Fatal("nothing is pending, and it is not over")
	}
	after, effects := s.update(settledEvent{look: 2, pending: []*approval.Request{r}})
	if !after.over || len(effects) > 0 {
		t.Errorf("it goes on with %v", effects)
	}
}
