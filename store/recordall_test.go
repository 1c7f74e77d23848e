package store_test

import (
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
