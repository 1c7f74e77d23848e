package approvaltest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// TestClaimStore is the suite that every [approval.ClaimStore] must pass.
func TestClaimStore(t *testing.T, open func(t *testing.T) Pair) {
	claim := approval.Claim{Batch: "b", Call: "1", Fingerprint: policy.DigestOf([]byte("x")), Session: "s"}
	resume := claim
	resume.Resume = true
	want := func(t *testing.T, s approval.ClaimStore, c approval.Claim, want error) {
		t.Helper()
		if err := s.Claim(t.Context(), c); !errors.Is(err, want) {
			t.Errorf("claiming: %v, want %v", err, want)
		}
	}
	release := func(t *testing.T, s approval.ClaimStore, stage approval.Stage) {
		t.Helper()
		if err := s.Release(t.Context(), claim, stage); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("one of many gets it", func(t *testing.T) {
		p := open(t)
		var won atomic.Int32
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				if err := []Store{p.One, p.Two}[i%2].Claim(context.Background(), claim); err == nil {
					won.Add(1)
				} else if !errors.Is(err, approval.ErrClaimed) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 {
			t.Errorf("%d got the claim, want 1", won.Load())
		}
	})
	t.Run("calls, batches and fingerprints are apart", func(t *testing.T) {
		p := open(t)
		other := []approval.Claim{claim, claim, claim, claim}
		other[1].Batch, other[2].Call, other[3].Fingerprint = "c", "2", policy.DigestOf(nil)
		for _, c := range other {
			want(t, p.One, c, nil)
			want(t, p.Two, c, approval.ErrClaimed)
		}
	})
	t.Run("what has ended is never claimed again", func(t *testing.T) {
		for _, stage := range []approval.Stage{approval.StageCompleted, approval.StageFailed, approval.StageUnknown} {
			p := open(t)
			want(t, p.One, claim, nil)
			release(t, p.One, stage)
			want(t, p.Two, claim, approval.ErrClaimed)
			want(t, p.Two, resume, approval.ErrClaimed)
		}
	})
	t.Run("what did nothing can be claimed again", func(t *testing.T) {
		p := open(t)
		want(t, p.One, claim, nil)
		release(t, p.One, approval.StageWaiting)
		want(t, p.Two, claim, nil)
	})
	t.Run("what is suspended is resumed, once", func(t *testing.T) {
		p := open(t)
		want(t, p.One, resume, approval.ErrClaimed) // it never began
		want(t, p.One, claim, nil)
		release(t, p.One, approval.StageSuspended)
		want(t, p.Two, claim, approval.ErrClaimed) // not from the start
		want(t, p.Two, resume, nil)
		want(t, p.One, resume, approval.ErrClaimed)
	})
}
