package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool"
)

// An Aside keeps a run that waits for answers. The gate of such a run needs claims: a call
// that was started is not started again, whatever happens to the program.
type Aside interface {
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
	if len(e.Pending) == 1 {
		return "the run waits for an answer"
	}
	return fmt.Sprintf("the run waits for %d answers", len(e.Pending))
}

// An openTurn is a turn that was put aside: what the model said, its calls on their way
// through the gate, and the results that there are.
type openTurn struct {
	turn  Turn
	batch *approval.Batch
	saved json.RawMessage // the batch of another process, until it is restored
	done  map[string]Result
}

// runLater runs the calls of a turn, as far as nobody needs to be asked. Before anything
// runs the batch is saved, and after it the results: a call that was started in between is
// found claimed, reported, and never repeated.
func (r *Run) runLater(ctx context.Context, t Turn, calls []Call) ([]Result, error) {
	if err := r.reviewed(ctx, t, calls); err != nil {
		return nil, err
	}
	o := r.open
	for again := 0; ; again++ {
		if err := r.Aside.Collect(ctx, o.batch); err != nil {
			return nil, err
		}
		if err := r.save(ctx); err != nil {
			return nil, err
		}
		if len(o.batch.Pending()) > 0 || again >= maxAgain {
			return nil, r.pause(ctx)
		}
		results, err := tool.Finish(ctx, r.Gate, o.batch)
		o.keep(results)
		if err != nil && !errors.Is(err, approval.ErrOpen) {
			return nil, err
		}
		if err == nil {
			break
		}
	}
	results := o.results(calls)
	r.open = nil
	return results, nil
}

// maxAgain is how often a turn is tried while the world changes under it.
const maxAgain = 10

// reviewed has the turn judged, or takes up the batch that was saved.
func (r *Run) reviewed(ctx context.Context, t Turn, calls []Call) (err error) {
	if r.open == nil {
		r.open = &openTurn{turn: t, batch: r.Gate.Review(ctx, calls...), done: map[string]Result{}}
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
	if err := r.Aside.Post(ctx, b); err != nil {
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

// results are those of the calls, in their order.
func (o *openTurn) results(calls []Call) []Result {
	var out []Result
	for _, c := range calls {
		if res, ok := o.done[c.ID]; ok {
			out = append(out, res)
		}
	}
	return out
}

// Resume goes on with a run that was put aside. The data is what its Aside was given.
func (r *Run) Resume(ctx context.Context, data []byte) (Round, error) {
	if err := r.restore(data); err != nil {
		return Round{}, err
	}
	ctx, cancel := r.Limits.within(ctx)
	defer cancel()
	return r.goOn(ctx)
}

// save keeps the run as it is.
func (r *Run) save(ctx context.Context) error {
	s := savedRun{Version: savedVersion, Usage: r.usage, Streak: savedStreak(r.streak)}
	for _, round := range r.rounds {
		s.Rounds = append(s.Rounds, saveRound(round))
	}
	if o := r.open; o != nil {
		batch, err := json.Marshal(o.batch)
		if err != nil {
			return err
		}
		s.Open = &savedTurn{Turn: o.turn, Batch: batch}
		for _, res := range o.done {
			s.Open.Done = append(s.Open.Done, saveResult(res))
		}
		slices.SortFunc(s.Open.Done, func(a, b savedResult) int { return strings.Compare(a.ID, b.ID) })
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return r.Aside.Save(context.WithoutCancel(ctx), data)
}
