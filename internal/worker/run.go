package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool"
)

// DefaultMaxSteps is how many turns a run has unless it is told otherwise.
const DefaultMaxSteps = 50

// A Run is one execution of an agent. Model and Gate are needed.
type Run struct {
	Model   Model
	Gate    *tool.Gate
	Watcher Watcher
	// Name is the worker's name: prompts and the log say who asks.
	Name string
	// Message is what the agent is asked to do.
	Message string
	// MaxSteps limits the turns; 0 means [DefaultMaxSteps].
	MaxSteps int
	// StopOnDeny ends the run at the first call that a person denies.
	StopOnDeny bool
}

// ErrLimit says that a run used up its turns.
var ErrLimit = errors.New("the run reached its limit of turns")

// A StoppedError says which answer ended a run.
type StoppedError struct {
	Tool  string
	Acts  []string // what the call would have done
	State approval.State
	Note  string
}

func (e *StoppedError) Error() string {
	text := "the run was stopped: " + e.Tool
	if len(e.Acts) > 0 {
		text += fmt.Sprintf(" (%s)", strings.Join(e.Acts, " + "))
	}
	text += fmt.Sprintf(" was %s", e.State)
	if e.Note != "" {
		text += ": " + e.Note
	}
	return text
}

// Do runs the agent until its model wants nothing more, and returns the steps. The error is
// the cause of ctx if that is done, a [*StoppedError] if an answer ended the run, [ErrLimit],
// or the model's.
func (r *Run) Do(ctx context.Context) ([]Step, error) {
	limit := r.MaxSteps
	if limit == 0 {
		limit = DefaultMaxSteps
	}
	var steps []Step
	for range limit {
		turn, err := r.Model.Next(ctx, r.Message, steps)
		if ctx.Err() != nil {
			return steps, context.Cause(ctx)
		}
		if err != nil {
			return steps, fmt.Errorf("model: %w", err)
		}
		if r.Watcher != nil && turn.Text != "" {
			r.Watcher.Text(turn.Text)
		}
		step := Step{Turn: turn}
		if len(turn.Calls) > 0 {
			step.Results = tool.Calls(ctx, r.Gate, r.named(turn.Calls)...)
			if r.Watcher != nil {
				r.Watcher.Results(step.Results)
			}
		}
		steps = append(steps, step)
		if ctx.Err() != nil {
			return steps, context.Cause(ctx)
		}
		if err := r.stopped(step.Results); err != nil || len(turn.Calls) == 0 {
			return steps, err
		}
	}
	return steps, fmt.Errorf("%w (%d)", ErrLimit, limit)
}

// named says in each call who asks.
func (r *Run) named(calls []Call) []Call {
	if r.Name == "" {
		return calls
	}
	out := slices.Clone(calls)
	for i := range out {
		out[i].Workers = append([]string{r.Name}, out[i].Workers...)
	}
	return out
}

// stopped reports the first answer that ends the run.
func (r *Run) stopped(results []tool.Result) error {
	for _, res := range results {
		o := res.Outcome
		d := o.Decision
		refused := o.State == approval.Denied || o.State == approval.Expired
		if o.State == approval.Dismissed || d != nil && d.Stop || r.StopOnDeny && refused {
			return &StoppedError{Tool: res.Tool, Acts: actTexts(o.Acts), State: o.State, Note: o.Note()}
		}
	}
	return nil
}

func actTexts(acts []approval.Act) []string {
	var out []string
	for _, a := range acts {
		out = append(out, a.String())
	}
	return out
}
