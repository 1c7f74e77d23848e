package worker

import (
	"context"
	"errors"
	"fmt"

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
	State approval.State
	Note  string
}

func (e *StoppedError) Error() string {
	text := fmt.Sprintf("the run was stopped: %s was %s", e.Tool, e.State)
	if e.Note != "" {
		text += ": " + e.Note
	}
	return text
}

// Do runs the agent until its model wants nothing more, and returns the steps. The error is
// a [*StoppedError] if an answer ended it, [ErrLimit], or the model's.
func (r *Run) Do(ctx context.Context) ([]Step, error) {
	limit := r.MaxSteps
	if limit == 0 {
		limit = DefaultMaxSteps
	}
	var steps []Step
	for range limit {
		turn, err := r.Model.Next(ctx, r.Message, steps)
		if err != nil {
			return steps, fmt.Errorf("model: %w", err)
		}
		if r.Watcher != nil && turn.Text != "" {
			r.Watcher.Text(turn.Text)
		}
		step := Step{Turn: turn}
		if len(turn.Calls) > 0 {
			step.Results = tool.Calls(ctx, r.Gate, turn.Calls...)
			if r.Watcher != nil {
				r.Watcher.Results(step.Results)
			}
		}
		steps = append(steps, step)
		if err := r.stopped(step.Results); err != nil || len(turn.Calls) == 0 {
			return steps, err
		}
		if err := ctx.Err(); err != nil {
			return steps, err
		}
	}
	return steps, fmt.Errorf("%w (%d)", ErrLimit, limit)
}

// stopped reports the first answer that ends the run.
func (r *Run) stopped(results []tool.Result) error {
	for _, res := range results {
		o := res.Outcome
		d := o.Decision
		stop := o.State == approval.Dismissed || d != nil && d.Stop || r.StopOnDeny && o.State == approval.Denied
		if stop {
			return &StoppedError{Tool: res.Tool, State: o.State, Note: o.Note()}
		}
	}
	return nil
}
