package approval_test

import (
	"context"
	"errors"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

func TestReleaseIsRecordedOnce(t *testing.T) {
	for name, how := range map[string]func(*fixture) *approval.Batch{"free": free, "by a person": once, "by a rule": always} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			b := how(f)
			if err := b.Release(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			events := f.recorder.Events()
			last := events[len(events)-1]
			if last.Kind != approval.EventEnded || last.Stage != approval.StageReleased || last.State != b.Outcome(0).State {
				t.Errorf("recorded %s, %s, %s", last.Kind, last.Stage, last.State)
			}
			if err := b.Release(t.Context(), 0); !errors.Is(err, approval.ErrNotAllowed) {
				t.Errorf("a second release: %v, want %v", err, approval.ErrNotAllowed)
			}
			if _, err := b.Start(t.Context(), 0, approval.Proposal{}); !errors.Is(err, approval.ErrNotAllowed) {
				t.Errorf("a start after the release: %v, want %v", err, approval.ErrNotAllowed)
			}
		})
	}
}

func TestReleaseLooksOnceMore(t *testing.T) {
	f := newFixture(t)
	b := once(f)
	f.tools.Set("send", approval.Proposal{Definition: policy.DigestOf([]byte("definition")), State: policy.DigestOf([]byte("another file"))})
	if err := b.Release(t.Context(), 0); !errors.Is(err, approval.ErrChanged) {
		t.Fatalf("what was shown changed: %v, want %v", err, approval.ErrChanged)
	}
	if o := b.Outcome(0); o.State != policy.StatePending {
		t.Errorf("it is %s, want %s", o.State, policy.StatePending)
	}
}

func TestReleaseHoldsWhatIsDeniedMeanwhile(t *testing.T) {
	f := newFixture(t)
	b := once(f)
	f.addRule("deny send")
	if err := b.Release(t.Context(), 0); !errors.Is(err, approval.ErrChanged) {
		t.Fatalf("it was denied meanwhile: %v, want %v", err, approval.ErrChanged)
	}
	if o := b.Outcome(0); o.State != policy.StateAutoDenied {
		t.Errorf("it is %s, want %s", o.State, policy.StateAutoDenied)
	}
}

func TestReleaseRefuses(t *testing.T) {
	t.Run("what is pending", func(t *testing.T) {
		f := newFixture(t)
		b, _ := f.pending(call("send", "x"))
		if err := b.Release(t.Context(), 0); !errors.Is(err, approval.ErrNotAllowed) {
			t.Errorf("%v, want %v", err, approval.ErrNotAllowed)
		}
	})
	t.Run("what cannot be recorded", func(t *testing.T) {
		f := newFixture(t)
		b := free(f)
		f.recorder.FailWith(errors.New("the disk is full"))
		if err := b.Release(t.Context(), 0); !errors.Is(err, approval.ErrNotRecorded) {
			t.Errorf("%v, want %v", err, approval.ErrNotRecorded)
		}
		if o := b.Outcome(0); o.Runs() {
			t.Errorf("it is %s", o.State)
		}
	})
	t.Run("what was cancelled", func(t *testing.T) {
		f := newFixture(t)
		b := free(f)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.Release(ctx, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want %v", err, context.Canceled)
		}
	})
}

func TestHandOver(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "x"))
	if err := b.HandOver(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if o := b.Outcome(0); o.State != policy.StateHandedOver || o.Stage != approval.StageReleased || o.Runs() {
		t.Errorf("it is %s, %s", o.State, o.Stage)
	}
	events := f.recorder.Events()
	if last := events[len(events)-1]; last.State != policy.StateHandedOver || last.By.Via != policy.ViaAgentPrompt {
		t.Errorf("recorded as %s by %s", last.State, last.By.Via)
	}
	if err := b.Resolve(t.Context(), r.Approve("")); !errors.Is(err, approval.ErrSettled) {
		t.Errorf("an answer after it was handed over: %v, want %v", err, approval.ErrSettled)
	}
}

func TestHandOverThatCannotBeRecorded(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "x"))
	f.recorder.FailWith(errors.New("the disk is full"))
	if err := b.HandOver(t.Context(), r); !errors.Is(err, approval.ErrNotRecorded) {
		t.Errorf("%v, want %v", err, approval.ErrNotRecorded)
	}
	if o := b.Outcome(0); o.State != policy.StateDenied {
		t.Errorf("it is %s, want %s", o.State, policy.StateDenied)
	}
}

func TestReject(t *testing.T) {
	f := newFixture(t)
	b, _ := f.pending(call("send", "x"))
	b.Reject(t.Context(), "nobody is there")
	if o := b.Outcome(0); o.State != policy.StateDenied || o.Why != "nobody is there" {
		t.Errorf("it is %s: %s", o.State, o.Why)
	}
}
