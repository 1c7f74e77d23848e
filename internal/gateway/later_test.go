package gateway_test

import (
	"context"
	"errors"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/gateway"
)

// full makes records one that decides itself how much it keeps.
type full struct {
	*records
	fail error
}

func (f full) RecordFull(ctx context.Context, e approval.Event) error {
	return errors.Join(f.fail, f.Record(ctx, e))
}

func TestLaterRecordsStartsAtOnceAndEndsInTheEnd(t *testing.T) {
	r := full{records: newRecords()}
	l := gateway.NewLater(r, func(err error) { t.Error(err) })
	if err := l.Record(t.Context(), approval.Event{Kind: approval.Started}); err != nil || len(r.list) != 1 {
		t.Errorf("%d recorded, %v", len(r.list), err)
	}
	for range 10 {
		if err := l.Record(t.Context(), approval.Event{Kind: approval.Ended, Stage: approval.StageCompleted}); err != nil {
			t.Error(err)
		}
	}
	if err := l.Close(); err != nil || len(r.list) != 11 {
		t.Errorf("%d recorded, %v", len(r.list), err)
	}
	if err := l.Record(t.Context(), approval.Event{Kind: approval.Ended, Stage: approval.StageCompleted}); err != nil || len(r.list) != 12 {
		t.Errorf("after the end: %d recorded, %v", len(r.list), err)
	}
}

func TestLaterTellsWhatCouldNotBeRecorded(t *testing.T) {
	told := make(chan error, 1)
	l := gateway.NewLater(full{newRecords(), errors.New("full")}, func(err error) { told <- err })
	if err := l.Record(t.Context(), approval.Event{Kind: approval.Started}); err == nil {
		t.Error("a start that cannot be recorded is passed over")
	}
	if err := l.Record(t.Context(), approval.Event{Kind: approval.Ended, Stage: approval.StageCompleted}); err != nil {
		t.Error(err)
	}
	if err := <-told; err == nil {
		t.Error("nothing was told")
	}
	l.Close()
}
