package approval

import (
	"errors"
	"slices"
	"testing"

	"github.com/assent-dev/assent/policy"
)

var allStages = []Stage{"", StageWaiting, StageReady, StageRefused, StageExecuting,
	StageCompleted, StageFailed, StageCancelled, StageSuspended, StageUnknown, StageReleased, "nonsense"}

var allStates = []policy.State{"", policy.StatePending, policy.StateApproved, policy.StateDenied, policy.StateAutoApproved, policy.StateAutoDenied, policy.StateSessionApproved, policy.StateModeApproved, policy.StateModeDenied,
	policy.StateAnswered, policy.StateDismissed, policy.StateBlocked, policy.StateFree, policy.StateExpired, policy.StateHandedOver, policy.StateInvalid, "nonsense"}

func TestAdvance(t *testing.T) {
	legal := map[Stage][]Stage{
		StageWaiting:   {StageReady, StageRefused, StageCompleted, StageFailed, StageCancelled, StageReleased},
		StageReady:     {StageExecuting, StageRefused, StageCancelled, StageReleased, StageWaiting},
		StageExecuting: {StageCompleted, StageFailed, StageCancelled, StageSuspended, StageUnknown, StageWaiting},
		StageSuspended: {StageExecuting, StageCancelled, StageUnknown},
	}
	for _, from := range allStages {
		for _, to := range allStages {
			got, err := advance(from, to)
			if slices.Contains(legal[from], to) {
				if got != to || err != nil {
					t.Errorf("Advance(%q, %q) = %q, %v", from, to, got, err)
				}
				continue
			}
			var fault *transitionError
			if got != from || !errors.As(err, &fault) || *fault != (transitionError{from, to}) {
				t.Errorf("Advance(%q, %q) = %q, %v; want %q and an error", from, to, got, err, from)
			}
		}
		final := from != "" && legal[from] == nil
		if from.Final() != final {
			t.Errorf("%q is final: %v", from, from.Final())
		}
	}
}

func TestStatesAndTheirStages(t *testing.T) {
	want := map[policy.State]Stage{
		policy.StatePending: StageWaiting, policy.StateApproved: StageReady, policy.StateAutoApproved: StageReady, policy.StateSessionApproved: StageReady,
		policy.StateModeApproved: StageReady, policy.StateFree: StageReady, policy.StateAnswered: StageCompleted, policy.StateDismissed: StageRefused,
		policy.StateBlocked: StageRefused, policy.StateHandedOver: StageReleased, policy.StateInvalid: StageFailed,
	}
	for _, s := range allStates {
		stage, ok := want[s]
		if !ok {
			stage = StageRefused // also what is no state at all
		}
		if StageAfter(s) != stage || s.Runs() != (stage == StageReady) || s.Settled() != (s != policy.StatePending && s != "") {
			t.Errorf("%q: stage %q, runs %v, settled %v", s, StageAfter(s), s.Runs(), s.Settled())
		}
		if _, err := advance(StageWaiting, StageAfter(s)); s != policy.StatePending && err != nil {
			t.Errorf("the answer %q leads nowhere: %v", s, err)
		}
	}
}

func FuzzAdvance(f *testing.F) {
	f.Add([]byte{2, 6, 10, 6, 7})
	f.Add([]byte{2, 6, 1, 2, 6, 11, 6})
	f.Add([]byte{2, 12, 6})
	f.Fuzz(func(t *testing.T, steps []byte) {
		now, approvals, entries := StageWaiting, 0, 0
		for _, step := range steps {
			to := allStages[int(step)%len(allStages)]
			next, err := advance(now, to)
			if (err == nil) != (next == to && next != now) {
				t.Fatalf("Advance(%q, %q) = %q, %v", now, to, next, err)
			}
			if err != nil {
				continue
			}
			if now.Final() || now == StageUnknown {
				t.Fatalf("%s was left for %s", now, next)
			}
			switch next {
			case StageReady:
				approvals++
			case StageExecuting:
				if now != StageReady && now != StageSuspended {
					t.Fatalf("executing after %s", now)
				}
				if now == StageReady {
					entries++
				}
			}
			if entries > approvals {
				t.Fatalf("started %d times on %d approvals", entries, approvals)
			}
			now = next
		}
	})
}
