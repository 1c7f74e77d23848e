package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// DefaultMaxSteps is how many turns a round has unless a run is told otherwise.
const DefaultMaxSteps = 50

// Limits end a run that would go on for too long. Zero fields do not limit, except that
// Steps is [DefaultMaxSteps] then.
type Limits struct {
	// Steps are the turns of a round, Time is how long it takes.
	Steps int
	Time  time.Duration
	// Tokens are those of all rounds, read and written.
	Tokens int64
}

// ErrLimit says that a run reached a limit; match with [errors.Is].
var ErrLimit = errors.New("the run reached its limit")

func (l Limits) steps() int {
	if l.Steps == 0 {
		return DefaultMaxSteps
	}
	return l.Steps
}

// within returns a context that ends when the time is over.
func (l Limits) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if l.Time == 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, l.Time, fmt.Errorf("%w of %v", ErrLimit, l.Time))
}

// spent reports that the tokens are used up.
func (l Limits) spent(u Usage) error {
	if used := u.Input + u.Output; l.Tokens > 0 && used >= l.Tokens {
		return fmt.Errorf("%w of %d tokens: %d are used", ErrLimit, l.Tokens, used)
	}
	return nil
}

// maxRefused is how often in a row the same call may be refused before it is clear that
// the model does not take no for an answer.
const maxRefused = 3

// A streak counts how often in a row the same call was refused.
type streak struct {
	call  string
	count int
}

// see counts a result, and reports whether that was once too often.
func (s *streak) see(r Result) bool {
	o := r.Outcome
	if !refused(o.State) {
		*s = streak{}
		return false
	}
	asked := o.Call.Arguments
	if o.Original != nil {
		asked = o.Original // what the model wanted
	}
	call := o.Call.Name() + " " + string(asked)
	if call != s.call {
		*s = streak{call: call}
	}
	s.count++
	return s.count >= maxRefused
}

// refused reports whether the answer was a no, whoever gave it.
func refused(s policy.State) bool {
	switch s {
	case policy.StateDenied, policy.StateAutoDenied, policy.StateModeDenied, policy.StateExpired, policy.StateBlocked:
		return true
	}
	return false
}

// A StoppedError says which answer ended a run.
type StoppedError struct {
	Tool  string
	Acts  []string // what the call would have done
	State policy.State
	Note  string
	// Repeated says that the same call was refused too often in a row.
	Repeated bool
}

func (e *StoppedError) Error() string {
	text := "the run was stopped: " + e.Tool
	if len(e.Acts) > 0 {
		text += fmt.Sprintf(" (%s)", strings.Join(e.Acts, " + "))
	}
	text += fmt.Sprintf(" was %s", e.State)
	if e.Repeated {
		text += fmt.Sprintf(" %d times in a row, and the model asks for nothing else", maxRefused)
	}
	if e.Note != "" {
		text += ": " + e.Note
	}
	return text
}

func stoppedBy(res tool.Result) *StoppedError {
	o := res.Outcome
	return &StoppedError{Tool: res.Tool, Acts: actTexts(o.Acts), State: o.State, Note: o.Note()}
}

// stopped reports the first answer that ends the run.
func (r *Run) stopped(results []tool.Result) error {
	for _, res := range results {
		o := res.Outcome
		d := o.Decision
		no := o.State == policy.StateDenied || o.State == policy.StateExpired
		if o.State == policy.StateDismissed || d != nil && d.Stop || r.StopOnDeny && no {
			return stoppedBy(res)
		}
		if r.streak.see(res) {
			e := stoppedBy(res)
			e.Repeated = true
			return e
		}
	}
	return nil
}

func actTexts(acts []policy.Act) []string {
	var out []string
	for _, a := range acts {
		out = append(out, a.String())
	}
	return out
}
