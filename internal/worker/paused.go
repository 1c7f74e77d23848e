package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool"
)

// An Store keeps a run that waits for answers. The gate of such a run needs claims: a call
// that was started is not started again, whatever happens to the program.
type RunStore interface {
	// Save keeps the run as it is now, in place of what was kept before.
	Save(ctx context.Context, data []byte) error
	// Collect hands the batch the answers that were given meanwhile.
	Collect(ctx context.Context, b *approval.Batch) error
	// Post makes what the batch has pending visible to whoever answers.
	Post(ctx context.Context, b *approval.Batch) error
}

// A PausedError says that a run was put aside, and what it waits for.
type PausedError struct{ Pending []*approval.Request }

func (e *PausedError) Error() string {
	switch len(e.Pending) {
	case 0:
		return fmt.Sprintf("a call of the run was not started: %v; resume the run later", approval.ErrKeepsChanging)
	case 1:
		return "the run waits for an answer"
	}
	return fmt.Sprintf("the run waits for %d answers", len(e.Pending))
}

// An Inner keeps the runs that the calls of a turn wait for, each under the id of its call.
// Such a call is suspended: it is entered again when its run has ended. As JSON it is part
// of the run that is saved.
type Inner interface {
	json.Marshaler
	json.Unmarshaler
	// GoOn lets the runs go on until they have ended. If one cannot without a person, the
	// error is its [*PausedError].
	GoOn(ctx context.Context) error
	// Preview is [Run.Preview] for the requests of these runs.
	Preview(ctx context.Context, request string, args json.RawMessage) (*approval.Request, error)
}

// An openTurn is a turn that was put aside: what the model said, its calls on their way
// through the gate, and the results that there are.
type openTurn struct {
	turn    Turn
	batch   *approval.Batch
	saved   json.RawMessage // the batch of another process, until it is restored
	further []string        // ids of the calls that the model did not ask for
	done    map[string]Result
}

// runLater runs the calls of a turn, as far as nobody needs to be asked. Before anything
// runs the batch is saved, and after it the results: a call that was started in between is
// found claimed, reported, and never repeated.
func (r *Run) runLater(ctx context.Context, t Turn) (results []Result, further []string, err error) {
	if err := r.reviewed(ctx, t); err != nil {
		return nil, nil, err
	}
	err = approval.Again(func() error {
		for {
			switch open, err := r.advance(ctx); {
			case err != nil || !open:
				return err
			case !r.open.suspended():
				return approval.ErrChanged // so a call is judged anew
			}
		}
	})
	switch {
	case errors.Is(err, approval.ErrKeepsChanging):
		return nil, nil, r.pause(ctx)
	case err != nil:
		return nil, nil, err
	}
	o := r.open
	r.open = nil
	return o.results(), o.further, nil
}

// advance takes the answers that there are, runs what is allowed, and lets the runs inside
// go on. It reports whether the turn is still open.
func (r *Run) advance(ctx context.Context) (open bool, err error) {
	o := r.open
	if err := r.Store.Collect(ctx, o.batch); err != nil {
		return true, err
	}
	if err := r.Save(ctx); err != nil {
		return true, err
	}
	switch {
	case len(o.batch.Pending()) > 0:
		return true, r.pause(ctx)
	case ctx.Err() != nil:
		return true, context.Cause(ctx) // it can be resumed
	}
	results, err := tool.Finish(ctx, r.Gate, o.batch)
	o.keep(results)
	if err == nil || !errors.Is(err, approval.ErrOpen) {
		return false, err
	}
	if !o.suspended() {
		return true, nil
	}
	if r.Inner == nil {
		return true, errors.New("a call is suspended, and the run keeps nothing that could go on")
	}
	if err := r.Save(ctx); err != nil {
		return true, err
	}
	return true, r.Inner.GoOn(ctx)
}

// reviewed has the turn judged, or takes up the batch that was saved.
func (r *Run) reviewed(ctx context.Context, t Turn) (err error) {
	if r.open == nil {
		calls, further := r.expanded(t.Calls)
		r.open = &openTurn{turn: t, batch: r.Gate.Review(ctx, calls...), further: further, done: map[string]Result{}}
		return nil
	}
	if r.open.batch == nil {
		r.open.batch, err = r.Gate.Restore(ctx, r.open.saved)
	}
	return err
}

// pause posts what waits, and gives the batch up: it goes on when the run is resumed.
func (r *Run) pause(ctx context.Context) error {
	b := r.open.batch
	pending := b.Pending()
	if err := r.Store.Post(ctx, b); err != nil {
		return err
	}
	b.Close()
	return &PausedError{Pending: pending}
}

// keep notes the results of calls that have ended. Of one that was started before there is
// none to be had: its fate is unknown.
func (o *openTurn) keep(results []Result) {
	for _, res := range results {
		switch _, known := o.done[res.ID]; {
		case known, errors.Is(res.Err, approval.ErrOpen):
			continue
		case errors.Is(res.Err, tool.ErrRunning):
			unknown := &tool.UnknownError{Tool: res.Tool}
			res.Err, res.Text, res.Stage = unknown, unknown.ForModel(), approval.StageUnknown
		}
		o.done[res.ID] = res
	}
}

// suspended reports whether a call waits for what goes on inside it.
func (o *openTurn) suspended() bool {
	return slices.ContainsFunc(o.batch.Outcomes(), func(x approval.Outcome) bool { return x.Stage == approval.StageSuspended })
}

// results are those of the calls, in their order.
func (o *openTurn) results() []Result {
	var out []Result
	for _, x := range o.batch.Outcomes() {
		if res, ok := o.done[x.Call.ID]; ok {
			out = append(out, res)
		}
	}
	return out
}

// Resume goes on with a run that was put aside. The data is what its Store was given.
func (r *Run) Resume(ctx context.Context, data []byte) (Round, error) {
	if err := r.restore(data); err != nil {
		return Round{}, err
	}
	ctx, cancel := r.Limits.within(ctx)
	defer cancel()
	return r.goOn(ctx)
}

// Preview returns what a request of a run that was put aside would be with other arguments.
// Nothing happens to the run: its gate is to keep no records.
func (r *Run) Preview(ctx context.Context, data []byte, request string, args json.RawMessage) (*approval.Request, error) {
	if err := r.restore(data); err != nil {
		return nil, err
	}
	if r.open == nil {
		return nil, approval.ErrUnknownRequest
	}
	batch, err := r.Gate.Restore(ctx, r.open.saved)
	if err != nil {
		return nil, err
	}
	defer batch.Close()
	if len(batch.Pending()) == 0 && r.Inner != nil {
		return r.Inner.Preview(ctx, request, args)
	}
	return batch.Preview(ctx, request, args)
}

// Save keeps the run as it is. A run inside calls it when it has changed itself.
func (r *Run) Save(ctx context.Context) error {
	s := savedRun{Version: savedVersion, Usage: r.usage, Streak: savedStreak(r.streak)}
	for _, round := range r.rounds {
		s.Rounds = append(s.Rounds, saveRound(round))
	}
	if r.open != nil {
		open, err := r.saveTurn(r.open)
		if err != nil {
			return err
		}
		s.Open = open
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return r.Store.Save(context.WithoutCancel(ctx), data)
}
