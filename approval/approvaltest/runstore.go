package approvaltest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/sessions"
)

// TestRunStore is the suite that every [sessions.RunStore] must pass.
func TestRunStore(t *testing.T, open func(t *testing.T) Pair) {
	save := func(t *testing.T, s sessions.RunStore, run sessions.SavedRun) int64 {
		t.Helper()
		version, err := s.SaveRun(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		return version
	}
	t.Run("keeps bytes as they are", func(t *testing.T) {
		p := open(t)
		run := sessions.SavedRun{ID: "r", Session: "s", Data: []byte("\x00\xff bytes")}
		run.Version = save(t, p.One, run)
		got, err := p.Two.LoadRun(t.Context(), "r")
		if err != nil || string(got.Data) != string(run.Data) || got.Session != "s" || got.Version != run.Version || !got.Saved.Equal(Epoch) {
			t.Errorf("loaded %+v, %v; want %+v", got, err, run)
		}
	})
	t.Run("lists without data, the oldest first", func(t *testing.T) {
		p := open(t)
		for _, id := range []string{"b", "a"} {
			save(t, p.One, sessions.SavedRun{ID: id, Data: []byte("x")})
			p.Clock.Advance(time.Second)
		}
		runs, err := p.Two.Runs(t.Context())
		if err != nil || len(runs) != 2 || runs[0].ID != "b" || runs[1].ID != "a" || runs[0].Data != nil {
			t.Errorf("%+v, %v", runs, err)
		}
	})
	t.Run("refuses to overwrite what others saved", func(t *testing.T) {
		p := open(t)
		run := sessions.SavedRun{ID: "r", Data: []byte("1")}
		run.Version = save(t, p.One, run)
		var won atomic.Int32
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				if _, err := []Store{p.One, p.Two}[i%2].SaveRun(context.Background(), run); err == nil {
					won.Add(1)
				} else if !errors.Is(err, sessions.ErrRunChanged) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 {
			t.Errorf("%d saves of one version won, want 1", won.Load())
		}
		if _, err := p.One.SaveRun(t.Context(), sessions.SavedRun{ID: "r"}); !errors.Is(err, sessions.ErrRunChanged) {
			t.Errorf("saving it as a new one: %v, want ErrRunChanged", err)
		}
	})
	t.Run("forgets", func(t *testing.T) {
		p := open(t)
		save(t, p.One, sessions.SavedRun{ID: "r"})
		if err := p.Two.DeleteRun(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		if _, err := p.One.LoadRun(t.Context(), "r"); !errors.Is(err, sessions.ErrRunNotFound) {
			t.Errorf("loading: %v, want ErrRunNotFound", err)
		}
		if err := p.One.DeleteRun(t.Context(), "r"); !errors.Is(err, sessions.ErrRunNotFound) {
			t.Errorf("deleting again: %v, want ErrRunNotFound", err)
		}
	})
}

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
