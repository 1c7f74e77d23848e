package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/sessions"
)

// Begin has a gate judge a call, or go on with it where it was deferred: with the answer that was
// given since. Saved is what [Postpone] returned; nil if the call is new.
func Begin(ctx context.Context, gate *approval.Gate, store approval.RequestStore, call policy.Call,
	saved json.RawMessage) (*approval.Batch, error) {
	if saved == nil {
		return gate.Review(ctx, call), nil
	}
	b, err := gate.Restore(ctx, saved)
	if err != nil {
		return nil, fmt.Errorf("the saved call cannot be continued: %w", err)
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

// WhyRuns says in a line why a call may run.
func WhyRuns(o approval.Outcome) string {
	text := "assent: " + string(o.State)
	if o.Basis != "" {
		text += ", " + o.Basis
	}
	if note := o.Note(); note != "" {
		text += ". The person said: " + note
	}
	return text
}

// WhyNot says for the model why a call does not run, or what a person answered in its place.
func WhyNot(o approval.Outcome) string {
	if o.State == policy.StateAnswered {
		return fmt.Sprintf("A person answered in place of the tool, which did not run: %s", o.Decision.Result)
	}
	err := o.Err()
	var words interface{ ForModel() string }
	if errors.As(err, &words) {
		return words.ForModel()
	}
	return err.Error()
}

// Nobody says why a question is denied that nobody answers. Prompts says that the agent has a
// prompt of its own, and was told not to use it.
func Nobody(r *approval.Request, prompts bool) string {
	text := "it needs approval, and there is no one to ask"
	if r.Why != "" {
		text += ": " + r.Why
	}
	if prompts {
		return text
	}
	text += "; open an inbox with 'assent inbox'"
	if !r.PersonOnly {
		text += ", or allow it with 'assent rules add'"
	}
	return text
}

// InboxOpen reports whether somebody has an inbox open, who can be asked.
func InboxOpen(ctx context.Context, store interface {
	Sessions(context.Context) ([]sessions.Session, error)
}) (bool, error) {
	live, err := store.Sessions(ctx)
	return slices.ContainsFunc(live, func(s sessions.Session) bool { return s.Kind == sessions.KindInbox }), err
}
