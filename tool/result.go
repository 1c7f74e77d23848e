package tool

import (
	"encoding/json"
	"fmt"

	"github.com/assent-dev/assent/approval"
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
	// [*approval.DeniedError], [*approval.InvalidError] or [*FailedError], or
	// wraps [approval.ErrOpen].
	Err error
}

// A FailedError reports a call that was allowed, ran, and failed or was
// cancelled.
type FailedError struct {
	Tool  string
	Stage approval.Stage // failed, cancelled or unknown
	Err   error
}

func (e *FailedError) Error() string { return fmt.Sprintf("%s %s: %v", e.Tool, e.Stage, e.Err) }

func (e *FailedError) Unwrap() error { return e.Err }

// ForModel returns what the model is told.
func (e *FailedError) ForModel() string {
	switch e.Stage {
	case approval.StageCancelled:
		return fmt.Sprintf("[CANCELLED] %s was stopped before it finished: %v. Do not retry unless you are told to.", e.Tool, e.Err)
	case approval.StageUnknown:
		return fmt.Sprintf("[UNKNOWN] %s had started and its end was not seen: %v. It may have had its effect; do not retry it.", e.Tool, e.Err)
	}
	return fmt.Sprintf("[FAILED] %s was allowed, ran, and failed: %v. You may correct the call and try again.", e.Tool, e.Err)
}

func newResult(o approval.Outcome) Result {
	return Result{ID: o.Call.ID, Tool: o.Call.Name(), Outcome: o, Stage: o.Stage}
}

// notRun is the result of a call that was not allowed, or has ended before.
func notRun(o approval.Outcome) Result {
	r := newResult(o)
	switch {
	case o.State == approval.Answered:
		r.Value = o.Decision.Result
		r.Text = fmt.Sprintf("[ANSWERED] A person answered in place of %s, which did not run:\n%s", r.Tool, o.Decision.Result)
	case o.Stage == approval.StageUnknown:
		r.fail(&FailedError{Tool: r.Tool, Stage: o.Stage, Err: fmt.Errorf("the program ended while it ran")})
	default:
		if err := o.Err(); err != nil {
			r.fail(err)
		}
	}
	return r
}

// notStarted is the result of a call that was allowed and then could not start.
func notStarted(o approval.Outcome, err error) Result {
	if o.Stage == approval.StageCancelled {
		r := newResult(o)
		r.fail(&FailedError{Tool: r.Tool, Stage: o.Stage, Err: err})
		return r
	}
	return notRun(o)
}

func failed(o approval.Outcome, err error) Result {
	r := newResult(o)
	r.Stage = approval.StageFailed
	r.fail(&FailedError{Tool: r.Tool, Stage: r.Stage, Err: err})
	return r
}

// ended is the result of a call that ran.
func ended(o approval.Outcome, value any, err, recordErr error) Result {
	r := newResult(o)
	if err != nil {
		r.fail(&FailedError{Tool: r.Tool, Stage: o.Stage, Err: err})
	} else {
		r.Value, r.Text = value, textOf(value)
	}
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
	r.Text = fmt.Sprintf("[PENDING] %v. It has not run; do not repeat it.", err)
}

// comment adds what the person did besides saying yes.
func (r *Result) comment() {
	if r.Outcome.Original != nil {
		r.Text += fmt.Sprintf("\n\n[A person changed the arguments before approving. What ran: %s]", r.Outcome.Call.Arguments)
	}
	if note := r.Outcome.Note(); note != "" {
		r.Text += fmt.Sprintf("\n\n[The person who approved says: %s]", note)
	}
}

// textOf gives a tool's value to the model: a string as it is, nothing as
// "done", anything else as JSON.
func textOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "done"
	case string:
		return v
	case fmt.Stringer:
		return v.String()
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}
