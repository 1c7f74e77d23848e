package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// Begin has a gate judge a call, or go on with it where it was deferred: with the answer that was
// given since. Saved is what [Postpone] returned; nil if the call is new.
func Begin(ctx context.Context, gate *approval.Gate, store approval.RequestStore, call policy.Call, saved json.RawMessage) (*approval.Batch, error) {
	if saved == nil {
		return gate.Review(ctx, call), nil
	}
	b, err := gate.Restore(ctx, saved)
	if err != nil {
		return nil, fmt.Errorf("what was put aside cannot be taken up again: %w", err)
	}
	var withdrawn *approval.WithdrawnError
	if err := approval.Collect(ctx, store, b); errors.As(err, &withdrawn) {
		b.Close() // its session ended meanwhile: it is asked anew
		return gate.Review(ctx, call), nil
	} else if err != nil {
		return nil, err
	}
	return b, nil
}

// Postpone posts the pending request of a call where a person finds it, and returns what it takes to
// go on. The session of the call must have begun.
func Postpone(ctx context.Context, store approval.RequestStore, b *approval.Batch) (json.RawMessage, error) {
	request := b.Pending()[0]
	if _, err := request.View(ctx); err != nil {
		return nil, fmt.Errorf("it cannot be shown: %w", err)
	}
	if err := store.Post(ctx, request); err != nil {
		return nil, err
	}
	return json.Marshal(b)
}

// A Recorder adds to events what only the agent's call knows, before they are recorded.
type Recorder struct {
	approval.DetailRecorder
	Add func(context.Context, *approval.Event)
}

// Record implements [approval.Recorder].
func (r Recorder) Record(ctx context.Context, e approval.Event) error { return r.RecordFull(ctx, e) }

// RecordFull implements [approval.DetailRecorder].
func (r Recorder) RecordFull(ctx context.Context, e approval.Event) error {
	r.Add(ctx, &e)
	return r.DetailRecorder.RecordFull(ctx, e)
}
