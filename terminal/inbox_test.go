package terminal

import (
	"context"
	"fmt"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// fakeInbox is a batch as an inbox shows it.
type fakeInbox struct {
	*approval.Batch
	about About
}

func (fakeInbox) Watch() (<-chan struct{}, func())                  { return nil, func() {} }
func (in fakeInbox) About(context.Context, *approval.Request) About { return in.about }
func (fakeInbox) Quiet() []string                                   { return nil }
func (fakeInbox) Err() error                                        { return nil }
func (in fakeInbox) play(t *testing.T, f *fixture, columns int) *player {
	t.Helper()
	return playDesk(t, NewWith(Config{Grants: f.memory, Wide: wideBash}), in, columns, 0)
}

// TestGoldenInbox draws what the inbox adds to the prompt, and the line while nothing waits.
func TestGoldenInbox(t *testing.T) {
	about := About{From: "a run, process 4242, since 10:31:07", Problem: "at most 100 rules are kept; remove one with 'assent rules remove'"}
	for _, columns := range []int{40, 80, 120} {
		f := newFixture(t, "diff", "two")
		p := fakeInbox{f.batch, about}.play(t, f, columns)
		golden(t, fmt.Sprintf("inbox/asks-%d", columns), p.screen())
		checkWidths(t, p.state.frame(), columns)
		quiet := quietText([]string{"Nothing waits", "12 answered", "3 elsewhere", "Ctrl-C leaves"}, columns-1)
		if quiet.width() >= columns {
			t.Errorf("%d cells in %d columns: %q", quiet.width(), columns, quiet)
		}
		golden(t, fmt.Sprintf("inbox/quiet-%d", columns), noStyles.painted([]line{quiet}))
	}
}

// q in an inbox denies what the run waits for that asks, and ends neither the inbox nor
// another run.
func TestInboxStop(t *testing.T) {
	f := newFixture(t, "two", "diff")
	other := f.batch.Pending()[1]
	other.Call.Session = "another"
	p := fakeInbox{f.batch, About{}}.play(t, f, 80)
	p.keys("q", "enough", "<enter>")
	o := f.batch.Outcome(0)
	if o.State != policy.StateDenied || !o.Decision.Stop || o.Note() != "enough" {
		t.Errorf("the run got %s, %+v", o.State, o.Decision)
	}
	if f.state(1) != policy.StatePending || p.state.over {
		t.Errorf("the other is %s, over %v", f.state(1), p.state.over)
	}
}

// Looks at the desk may be told in another order than they were made: what was answered
// does not come back.
func TestAnOldLookIsNotBelieved(t *testing.T) {
	f := newFixture(t, "two", "diff")
	p := f.play(t, 80, 40)
	old := p.work.settled(nil, nil)
	p.keys("y")
	p.event(old)
	if n := len(p.state.items); n != 1 || f.state(0) != policy.StateApproved {
		t.Errorf("%d requests are on the screen, the first is %s", n, f.state(0))
	}
}
