package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/tool"
)

// A Run is one execution of an agent: a message, or a chat of several. Talker and Gate are
// needed. It is not safe for concurrent use.
type Run struct {
	Talker  Talker
	Gate    *tool.Gate
	Watcher Watcher // may be nil
	// Workers is the chain of workers that led here, this one last: prompts and the log say
	// who asks.
	Workers []string
	// Instructions are what the model is told; Tools those that it may call, nil for all
	// tools of the gate.
	Instructions string
	Tools        []Spec
	Limits       Limits
	// StopOnDeny ends the run at the first call that a person denies.
	StopOnDeny bool
	// Expand returns the calls of a turn with the further ones that must be answered
	// before; nil leaves them as they are. The model is not told of those.
	Expand func(calls []Call) []Call
	// Store is where the run is put while it waits for answers; nil waits for the gate's
	// approver instead.
	Store RunStore
	// Inner is what the tools keep while a turn is under way: the runs that calls of it
	// wait for. May be nil; without a Store it is not used.
	Inner Inner
	// Before is what those used who called this worker: the limit of tokens is for all of
	// them together.
	Before Usage

	rounds []Round
	usage  Usage
	streak streak
	open   *openTurn // of a run that was put aside
}

// Usage is what all turns cost so far, with what was charged.
func (r *Run) Usage() Usage { return r.usage }

// Charge adds what a worker used that this one called.
func (r *Run) Charge(u Usage) { r.usage = r.usage.Add(u) }

// Say gives the agent a message and takes turns until it wants nothing more. It returns
// the round, also with an error: the cause of ctx if that is done, a [*StoppedError] if an
// answer ended the run, one that matches [ErrLimit], or the model's.
func (r *Run) Say(ctx context.Context, m Message) (Round, error) {
	ctx, cancel := r.Limits.within(ctx)
	defer cancel()
	r.rounds = append(r.rounds, Round{Message: m})
	return r.goOn(ctx)
}

// goOn takes turns until the round that is under way ends.
func (r *Run) goOn(ctx context.Context) (Round, error) {
	round := &r.rounds[len(r.rounds)-1]
	for len(round.Steps) < r.Limits.steps() {
		step, err := r.step(ctx)
		if step != nil {
			round.Steps = append(round.Steps, *step)
			if notSaved := r.saveStep(ctx); notSaved != nil {
				err = errors.Join(err, notSaved)
			}
		}
		if err != nil || len(step.Turn.Calls) == 0 {
			return *round, err
		}
	}
	return *round, fmt.Errorf("%w of %d turns", ErrLimit, r.Limits.steps())
}

// step takes one turn, and has its calls judged and run. Without a turn there is no step.
func (r *Run) step(ctx context.Context) (*Step, error) {
	turn, err := r.turn(ctx)
	if err != nil {
		return nil, err
	}
	step := &Step{Turn: turn}
	if len(turn.Calls) == 0 {
		return step, nil
	}
	results, further, err := r.run(ctx, turn)
	if err != nil {
		return nil, err
	}
	if r.Watcher != nil {
		r.Watcher.Results(results)
	}
	step.Results = slices.DeleteFunc(slices.Clone(results), func(res Result) bool { return slices.Contains(further, res.ID) })
	if ctx.Err() != nil {
		return step, context.Cause(ctx)
	}
	return step, r.stopped(results)
}

// saveStep keeps a step that is over, if the run may be put aside.
func (r *Run) saveStep(ctx context.Context) error {
	if r.Store == nil {
		return nil
	}
	return r.Save(ctx)
}

// run has the calls of a turn judged, answered and run. It returns the results, and the ids
// of those that the model did not ask for.
func (r *Run) run(ctx context.Context, t Turn) (results []Result, further []string, err error) {
	if r.Store != nil {
		return r.runLater(ctx, t)
	}
	calls, further := r.expanded(t.Calls)
	return tool.Calls(ctx, r.Gate, calls...), further, nil
}

// turn asks the model, unless the run was put aside in the middle of a turn.
func (r *Run) turn(ctx context.Context) (Turn, error) {
	if r.open != nil {
		return r.open.turn, nil
	}
	if err := r.Limits.spent(r.Before.Add(r.usage)); err != nil {
		return Turn{}, err
	}
	tools := r.Tools
	if tools == nil {
		tools = r.Gate.Specs()
	}
	var l Listener
	if r.Watcher != nil {
		l = r.Watcher
	}
	turn, err := r.Talker.Talk(ctx, Prompt{Instructions: r.Instructions, Tools: tools, Rounds: r.rounds}, l)
	if ctx.Err() != nil {
		return Turn{}, context.Cause(ctx)
	}
	if err != nil {
		return Turn{}, fmt.Errorf("model: %w", err)
	}
	r.usage = r.usage.Add(turn.Usage)
	if r.Watcher != nil {
		r.Watcher.Turn(turn)
	}
	return turn, nil
}

// expanded returns the calls with those that come before them, and the ids of those. Each
// call says who asks.
func (r *Run) expanded(calls []Call) (out []Call, further []string) {
	out = slices.Clone(calls)
	if r.Expand != nil {
		out = r.Expand(out)
	}
	for i := range out {
		out[i].Workers = slices.Concat(r.Workers, out[i].Workers)
		if !slices.ContainsFunc(calls, func(c Call) bool { return c.ID == out[i].ID }) {
			further = append(further, out[i].ID)
		}
	}
	return out, further
}
