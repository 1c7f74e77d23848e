package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/store"
)

// TestSeveralEventsAreRecordedInOrderOrNot records several at once: all of them, or none if
// one of them cannot be.
func TestSeveralEventsAreRecordedInOrderOrNot(t *testing.T) {
	s := openStore(t, t.TempDir(), store.Options{Detail: approval.DetailFull})
	events := []approval.Event{eventOf(3), eventOf(1), eventOf(2)}
	if err := s.RecordAll(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
	bad := eventOf(5)
	bad.Arguments = []byte("{")
	if err := s.RecordAll(t.Context(), eventOf(4), bad); err == nil {
		t.Error("what is no JSON was recorded")
	}
	var got []string
	for r, err := range s.Records(t.Context(), approval.RecordFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.CallID)
	}
	if want := []string{events[0].CallID, events[1].CallID, events[2].CallID}; !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
	if v, err := s.Verify(t.Context()); err != nil || !v.OK() {
		t.Errorf("the log is not in order: %+v, %v", v, err)
	}
}

// TestCallsThatEndInAGroupAreNotLeftRunning records starts and ends in one step: what is
// left running is what it would be one by one.
func TestCallsThatEndInAGroupAreNotLeftRunning(t *testing.T) {
	at := func(call string, kind approval.EventKind) approval.Event {
		e := eventOf(0)
		e.CallID, e.Kind = call, kind
		return e
	}
	start, end := approval.EventStarted, approval.EventEnded
	events := []approval.Event{
		at("brief", start), at("running", start), at("brief", end), at("again", start), at("again", end), at("again", start),
		at("twice", start), at("twice", end), at("twice", start), at("twice", end), at("old", end),
	}
	unended := func(record func(*store.Store) error) (out []string) {
		s := openStore(t, t.TempDir(), store.Options{})
		if err := s.Record(t.Context(), at("old", start)); err != nil {
			t.Fatal(err)
		}
		if err := record(s); err != nil {
			t.Fatal(err)
		}
		for r, err := range s.Records(t.Context(), approval.RecordFilter{}) {
			if err != nil {
				t.Fatal(err)
			}
			if r.Unended {
				out = append(out, fmt.Sprint(r.Seq, r.CallID))
			}
		}
		return out
	}
	together := unended(func(s *store.Store) error { return s.RecordAll(t.Context(), events...) })
	apart := unended(func(s *store.Store) (err error) {
		for _, e := range events {
			err = errors.Join(err, s.Record(t.Context(), e))
		}
		return err
	})
	if want := []string{"3running", "7again"}; !slices.Equal(together, want) || !slices.Equal(apart, want) {
		t.Errorf("left running are %v, one by one %v; want %v", together, apart, want)
	}
}
