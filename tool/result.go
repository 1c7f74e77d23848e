package tool

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// A Result is how a call ended.
type Result struct {
	// ID is the call's id, Tool its tool's name.
	ID   string
	Tool string
	// Outcome is how the gate answered; Stage is where the call ended.
	Outcome approval.Outcome
	Stage   approval.Stage
	// Value is what the tool returned, if it ran.
	Value any
	// Text is what the model is told, whatever happened.
	Text string
	// Err is nil if the call ran and did not fail, or if a person answered in
	// its place. Otherwise it is an [*approval.BlockedError],
	// [*approval.DeniedError], [*approval.InvalidError], [*FailedError],
	// [*CancelledError] or [*UnknownError], or wraps [approval.ErrOpen], with it
	// perhaps [ErrSuspended], or [ErrRunning].
	Err error
}

func newResult(o approval.Outcome) Result {
	return Result{ID: o.Call.ID, Tool: o.Call.Name(), Outcome: o, Stage: o.Stage}
}

// notRun is the result of a call that was not allowed, waits, or was run before.
func notRun(o approval.Outcome) Result {
	r := newResult(o)
	switch {
	case o.State == policy.StateAnswered:
		r.Value = o.Decision.Result
		r.Text = fmt.Sprintf("[ANSWERED] A person answered in place of %s, which did not run:\n%s", r.Tool,
			o.Decision.Result)
		r.comment()
	case o.Runs():
		r.ranBefore()
	default:
		r.fail(o.Err())
	}
	return r
}

// ranBefore says what became of a call that was started by somebody else.
func (r *Result) ranBefore() {
	switch r.Stage {
	case approval.StageCompleted:
		r.Text = fmt.Sprintf("[ENDED] %s has run before and was not run again. Do not retry it.", r.Tool)
	case approval.StageFailed:
		r.fail(&FailedError{Tool: r.Tool, Err: ErrEnded})
	case approval.StageCancelled:
		r.fail(&CancelledError{Tool: r.Tool, Started: true, Err: ErrEnded})
	case approval.StageUnknown:
		r.fail(&UnknownError{Tool: r.Tool})
	default:
		r.fail(fmt.Errorf("%s: %w", r.Tool, ErrRunning))
	}
}

// waiting is the result of a call that is allowed while others of its turn are
// not answered yet.
func waiting(o approval.Outcome) Result {
	r := newResult(o)
	r.fail(fmt.Errorf("%s is allowed, and other calls of its turn are %w", r.Tool, approval.ErrOpen))
	return r
}

// suspended is the result of a call whose body goes on later.
func suspended(o approval.Outcome, recordErr error) Result {
	r := newResult(o)
	err := fmt.Errorf("%s has begun and is %w: %w", r.Tool, approval.ErrOpen, ErrSuspended)
	if recordErr != nil {
		err = fmt.Errorf("%w, which could not be recorded: %w", err, recordErr)
	}
	r.fail(err)
	return r
}

// cancelled is the result of a call that was allowed and then did not start.
func cancelled(o approval.Outcome, err error) Result {
	r := newResult(o)
	r.fail(&CancelledError{Tool: r.Tool, Err: err})
	return r
}

// ended is the result of a call that ran.
func ended(o approval.Outcome, value any, err, recordErr error) Result {
	r := newResult(o)
	r.Value = value
	switch {
	case err == nil:
		r.Text = textOf(value)
	case o.Stage == approval.StageCancelled:
		r.fail(&CancelledError{Tool: r.Tool, Started: true, Err: err})
	default:
		r.fail(&FailedError{Tool: r.Tool, Err: err})
	}
	r.Text = QuoteNotes(r.Text) // an error has a stranger's words too
	r.comment()
	if recordErr != nil {
		r.Text += fmt.Sprintf("\n\n[It ran, but its end could not be recorded: %v.]", recordErr)
	}
	return r
}

// fail sets the error and tells the model.
func (r *Result) fail(err error) {
	r.Err = err
	if e, ok := err.(interface{ ForModel() string }); ok {
		r.Text = e.ForModel()
		return
	}
	r.Text = fmt.Sprintf("[PENDING] %v. It has no result yet; do not repeat it.", err)
}

// comment adds what the person did besides saying yes.
func (r *Result) comment() {
	if r.Outcome.Original != nil {
		r.Text += fmt.Sprintf("\n\n%s%s]", changedNote, r.Outcome.Call.Arguments)
	}
	if note := r.Outcome.Note(); note != "" {
		r.Text += fmt.Sprintf("\n\n%s%s]", personNote, note)
	}
}

// textOf gives a tool's value to the model: a string as it is, nothing as
// "done", anything else as JSON.
func textOf(value any) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprintf("done; the result cannot be written: %v", r)
		}
	}()
	switch v := value.(type) {
	case nil:
		return "done"
	case string:
		return v
	case interface{ Raw() json.RawMessage }:
		return string(v.Raw()) // it is JSON already
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
