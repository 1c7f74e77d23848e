package store_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
)

// TestARunEndsWithItsProcess asks the real system whether processes are there.
func TestARunEndsWithItsProcess(t *testing.T) {
	folder := t.TempDir()
	s := openStore(t, folder, store.Options{})
	if out, err := reexec.Command("job", "own session", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	mine := sessions.Session{ID: "mine", Kind: sessions.KindRun, Owner: store.ThisProcess()}
	if err := s.BeginSession(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	ended, err := s.CleanSessions(t.Context())
	if err != nil || len(ended) != 1 || ended[0].ID != "theirs" {
		t.Errorf("ended %+v, %v; want that of the process that is gone", ended, err)
	}
	if left, err := s.Sessions(t.Context()); err != nil || len(left) != 1 || left[0].ID != "mine" {
		t.Errorf("left %+v, %v", left, err)
	}
}

// TestOrphansAreDismissed posts for a session that nobody began.
func TestOrphansAreDismissed(t *testing.T) {
	clock := new(approvaltest.Clock)
	s := openStore(t, t.TempDir(), store.Options{Clock: clock.Now})
	r := approvaltest.Requests(t, 1, "nobody")[0]
	if err := s.Post(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []error{nil, approval.ErrSettled} {
		if _, err := s.CleanSessions(t.Context()); err != nil {
			t.Fatal(err)
		}
		p, err := s.Posted(t.Context(), r.ID)
		if err != nil || (p.Settled == nil) != (want == nil) {
			t.Errorf("the request is %+v, %v", p.Settled, err)
		}
		clock.Advance(2 * sessions.Idle)
	}
	if err := s.Answer(t.Context(), r.Approve("")); !errors.Is(err, approval.ErrSettled) {
		t.Errorf("answering it: %v, want ErrSettled", err)
	}
}

// What a process would wait for that is gone is not open any more, at once and without anybody who
// cleans up, even if its session lives on.
func TestWhatAKilledProcessAskedIsNotOpen(t *testing.T) {
	gone := sessions.Process{Host: "here", ID: 7, Started: "long ago"}
	alive := true
	s := openStore(t, t.TempDir(), store.Options{Alive: func(p sessions.Process) bool { return p != gone || alive }})
	for _, session := range []sessions.Session{{ID: "hook", Kind: sessions.KindHook}, {ID: "run", Kind: sessions.KindRun, Owner: gone}} {
		if err := s.BeginSession(t.Context(), session); err != nil {
			t.Fatal(err)
		}
	}
	ofHook, ofRun := approvaltest.Requests(t, 2, "hook"), approvaltest.Requests(t, 1, "run")
	ofHook[0].Origin.Process = approval.Process(gone)
	ofHook[1].ID, ofRun[0].ID = "put aside", "of the run"
	if err := s.Post(t.Context(), append(ofHook, ofRun...)...); err != nil {
		t.Fatal(err)
	}
	open := func(want ...string) {
		t.Helper()
		all, err := s.Open(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range all {
			got = append(got, p.Request.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("open are %q, want %q", got, want)
		}
	}
	open(ofHook[0].ID, "put aside", "of the run")
	alive = false
	open("put aside")
	if p, err := s.Posted(t.Context(), ofHook[0].ID); err != nil || p.Settled != nil {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := s.CleanSessions(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p, err := s.Posted(t.Context(), ofHook[0].ID); err != nil || p.Settled == nil || p.Settled.State != policy.StateDismissed {
		t.Errorf("%+v, %v", p, err)
	}
	open("put aside")
}

// TestAClockThatWasAheadCanBeForgotten sets the clock years ahead for a moment.
func TestAClockThatWasAheadCanBeForgotten(t *testing.T) {
	clock := new(approvaltest.Clock)
	s := openStore(t, t.TempDir(), store.Options{Clock: clock.Now})
	clock.Advance(sessions.Idle)
	if err := s.Record(t.Context(), eventOf(0)); err != nil {
		t.Fatal(err)
	}
	clock.Advance(-sessions.Idle)
	if behind, err := s.ClockBehind(t.Context()); err != nil || behind != sessions.Idle {
		t.Errorf("behind %v, %v; want %v", behind, err, sessions.Idle)
	}
	if err := s.ResetClock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if behind, err := s.ClockBehind(t.Context()); err != nil || behind != 0 {
		t.Errorf("after the reset: behind %v, %v", behind, err)
	}
}
