package tool

import (
	"context"
	"errors"
	"fmt"

	"github.com/assent-dev/assent/approval"
)

// maxAgain is how often a call is judged again because the world changed under
// it, before it is given up.
const maxAgain = 10

// Call takes one call through the gate and, if it is allowed, runs it. It waits
// for the gate's approver.
func Call(ctx context.Context, g *Gate, call approval.Call) Result {
	return Calls(ctx, g, call)[0]
}

// Calls takes the calls of one turn through the gate as a batch, waits for its
// approver, and runs what is allowed, one after another in the model's order.
// Nothing runs before the whole batch is answered. Each call has a result.
func Calls(ctx context.Context, g *Gate, calls ...approval.Call) []Result {
	b := g.Review(ctx, calls...)
	g.Ask(ctx, b)
	r := runner{gate: g, batch: b, asks: true}
	return r.all(ctx)
}

// Finish runs what is allowed of a batch that was reviewed, answered and perhaps
// restored elsewhere. It asks nobody: if a call must be asked again because the
// world has changed, it is left pending, and so are those after it. While
// something is pending nothing runs, and the error is [approval.ErrOpen].
//
// A call that has ended before is not run again; its result has its stage and
// no text.
func Finish(ctx context.Context, g *Gate, b *approval.Batch) ([]Result, error) {
	r := runner{gate: g, batch: b}
	var err error
	if n := len(b.Pending()); n > 0 {
		err = fmt.Errorf("%d calls: %w", n, approval.ErrOpen)
		r.halted = true
	}
	return r.all(ctx), err
}

// A runner runs the calls of a batch.
type runner struct {
	gate   *Gate
	batch  *approval.Batch
	asks   bool // ask again where it must be
	halted bool // nothing more runs
}

func (r *runner) all(ctx context.Context) []Result {
	results := make([]Result, len(r.batch.Outcomes()))
	for i := range results {
		results[i] = r.one(ctx, i)
	}
	return results
}

// one runs call i, judging it again as long as the world changes under it.
func (r *runner) one(ctx context.Context, i int) Result {
	for range maxAgain {
		o := r.batch.Outcome(i)
		if o.State == approval.Pending {
			r.halted = true
		}
		if r.halted || !o.Runs() || o.Stage != approval.StageApproved {
			return notRun(o)
		}
		result, err := r.run(ctx, i, o)
		if !errors.Is(err, approval.ErrChanged) {
			return result
		}
		if r.asks {
			r.gate.Ask(ctx, r.batch)
		}
	}
	o := r.batch.Outcome(i)
	return failed(o, fmt.Errorf("what the call would act on changed %d times while it was about to run", maxAgain))
}

// run prepares the call once more, starts it if everything still holds, and
// runs it. The error is [approval.ErrChanged] if it was judged again instead.
func (r *runner) run(ctx context.Context, i int, o approval.Outcome) (Result, error) {
	action, proposal, err := prepareSafely(ctx, r.gate.set, o.Call)
	if err != nil {
		// What was understood before is not any more: nothing is proposed, so
		// nothing fits what was shown.
		proposal = approval.Proposal{}
	}
	exec, err := r.batch.Start(ctx, i, proposal)
	if errors.Is(err, approval.ErrChanged) {
		return Result{}, err
	}
	if err != nil {
		return notStarted(r.batch.Outcome(i), err), nil
	}
	value, err := doSafely(withChoice(ctx, o), action.do)
	if errors.Is(err, approval.ErrChanged) {
		if endErr := exec.Again(ctx, err); endErr != nil {
			return failed(r.batch.Outcome(i), errors.Join(err, endErr)), nil
		}
		return Result{}, err
	}
	stage := approval.StageCompleted
	switch {
	case err != nil && ctx.Err() != nil:
		stage = approval.StageCancelled
	case err != nil:
		stage = approval.StageFailed
	}
	recordErr := exec.End(ctx, stage, err)
	return ended(r.batch.Outcome(i), value, err, recordErr), nil
}

func prepareSafely(ctx context.Context, set *Set, call approval.Call) (a Action, p approval.Proposal, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("preparing %s panicked: %v", call.Name(), r)
		}
	}()
	return set.prepare(ctx, call)
}

func doSafely(ctx context.Context, do Do) (value any, err error) {
	defer func() {
		if r := recover(); r != nil {
			value, err = nil, fmt.Errorf("the tool panicked: %v", r)
		}
	}()
	return do(ctx)
}

func withChoice(ctx context.Context, o approval.Outcome) context.Context {
	if o.Decision == nil || o.Decision.Choice == "" {
		return ctx
	}
	return context.WithValue(ctx, choiceKey{}, o.Decision.Choice)
}
