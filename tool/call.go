package tool

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// A Gate is an [approval.Gate] in front of a set of tools.
type Gate struct {
	*approval.Gate
	set   *Set
	newID func() string
	late  lateParts
}

// Guard puts a gate in front of the tools: [NewSet] and [NewGate] in one step.
func Guard(cfg approval.Config, tools ...Tool) (*Gate, error) {
	set, err := NewSet(tools...)
	if err != nil {
		return nil, err
	}
	return NewGate(set, cfg)
}

// NewGate returns a gate for the tools of the set. Of the config, Preparer is
// the set; Clock and NewID, if they are not set, are the system's.
func NewGate(set *Set, cfg approval.Config) (*Gate, error) {
	if set == nil {
		return nil, errors.New("tool: a gate needs a set of tools")
	}
	cfg.Preparer = set
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.NewID == nil {
		cfg.NewID = rand.Text
	}
	g, err := approval.New(cfg)
	if err != nil {
		return nil, err
	}
	return &Gate{Gate: g, set: set, newID: cfg.NewID}, nil
}

// Specs returns the definitions of the tools, in order, for the model.
func (g *Gate) Specs() []Spec { return g.set.Specs() }

// Call takes one call through the gate and, if it is allowed, runs it. It waits
// for the gate's approver.
func Call(ctx context.Context, g *Gate, call policy.Call) Result {
	return Calls(ctx, g, call)[0]
}

// Calls takes the calls of one turn through the gate as a batch, waits for its
// approver, and runs what is allowed, one after another in the model's order.
// Nothing runs before the whole batch is answered. Each call has a result.
func Calls(ctx context.Context, g *Gate, calls ...policy.Call) []Result {
	b := g.Review(ctx, calls...)
	g.Ask(ctx, b)
	r := runner{gate: g, batch: b, asks: true}
	return r.all(ctx)
}

// Finish runs what is allowed of a batch that was reviewed, answered and perhaps
// restored elsewhere. It asks nobody. While something is pending nothing runs.
// If a call must be asked again because the world has changed it is left
// pending, and if its Do returns [ErrSuspended] it is left suspended; those after
// it are not run. In all these cases the error wraps [approval.ErrOpen]; answer
// what is pending, let go on what is suspended, and call Finish again.
//
// A call that has ended before is not run again, and its result says so.
func Finish(ctx context.Context, g *Gate, b *approval.Batch) ([]Result, error) {
	if b.Gate() != g.Gate {
		return nil, errors.New("the batch is of another gate; restore it at this one")
	}
	r := runner{gate: g, batch: b, halted: len(b.Pending()) > 0}
	results := r.all(ctx)
	if r.halted {
		return results, fmt.Errorf("%d of %d calls: %w", openCalls(b), len(results), approval.ErrOpen)
	}
	return results, nil
}

// openCalls counts the calls that wait for an answer or for what goes on inside.
func openCalls(b *approval.Batch) (n int) {
	for _, o := range b.Outcomes() {
		if o.State == policy.StatePending || o.Stage == approval.StageSuspended {
			n++
		}
	}
	return n
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
func (r *runner) one(ctx context.Context, i int) (result Result) {
	asks := false // the caller has asked already
	err := approval.Again(func() (err error) {
		if asks {
			r.gate.Ask(ctx, r.batch)
		}
		asks = r.asks
		o := r.batch.Outcome(i)
		switch {
		case o.State == policy.StatePending && r.asks:
			return approval.ErrKeepsChanging // nobody answers any more
		case o.State == policy.StatePending:
			r.halted = true
			result = notRun(o)
		case !o.Runs() || !startable(o.Stage):
			result = notRun(o)
		case r.halted:
			result = waiting(o)
		default:
			result, err = r.run(ctx, i, o)
		}
		return err
	})
	if err == nil {
		return result
	}
	if o := r.batch.Outcome(i); o.State == policy.StatePending && !r.asks {
		r.halted = true
		return notRun(o)
	}
	return r.giveUp(ctx, i)
}

// giveUp ends a call that could not be started or asked, so that nothing runs
// it later.
func (r *runner) giveUp(ctx context.Context, i int) Result {
	cause := approval.ErrKeepsChanging
	for _, request := range r.batch.Pending() {
		if request.ID == r.batch.Outcome(i).Request {
			// An error means that it was answered after all; then it is stopped below.
			_ = r.batch.Resolve(ctx, request.Dismiss())
		}
	}
	stopped, stop := context.WithCancelCause(ctx)
	stop(cause)
	// Starting with a context that is done ends an allowed call as cancelled.
	if _, err := r.batch.Start(stopped, i, approval.Proposal{}); errors.Is(err, approval.ErrNotAllowed) {
		if o := r.batch.Outcome(i); o.Runs() {
			return notRun(o)
		}
	}
	return cancelled(r.batch.Outcome(i), cause)
}

// run prepares the call once more, starts it if everything still holds, and
// runs it. The error is [approval.ErrChanged] if it was judged again instead.
func (r *runner) run(ctx context.Context, i int, o approval.Outcome) (Result, error) {
	// If what was understood before is not any more, nothing is proposed, and
	// nothing fits what was shown.
	action, proposal, _ := r.gate.set.prepareSafely(withCall(ctx, o.Call.ID), o.Call)
	exec, err := r.batch.Start(ctx, i, proposal)
	if errors.Is(err, approval.ErrChanged) {
		return Result{}, err
	}
	if err != nil {
		return notStarted(r.batch.Outcome(i), err), nil
	}
	wait := approval.NewWait()
	started := r.batch.Outcome(i)
	running := &Running{gate: r.gate, exec: exec, call: started.Call, wait: wait}
	if started.Decision != nil {
		running.choice = started.Decision.Choice
	}
	value, err := doSafely(running.In(withCall(ctx, started.Call.ID)), action.do)
	wait.End()
	if errors.Is(err, ErrSuspended) && !r.asks {
		r.halted = true
		recordErr := exec.End(ctx, approval.StageSuspended, nil)
		return suspended(r.batch.Outcome(i), recordErr), nil
	}
	if errors.Is(err, approval.ErrChanged) && ctx.Err() == nil {
		return Result{}, errors.Join(err, exec.Again(ctx, err))
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

// notStarted is the result of a call that was allowed and then could not start.
func notStarted(o approval.Outcome, err error) Result {
	if o.Stage == approval.StageCancelled && !errors.Is(err, approval.ErrNotAllowed) {
		return cancelled(o, err)
	}
	return notRun(o)
}

func doSafely(ctx context.Context, do Do) (value any, err error) {
	defer func() {
		if r := recover(); r != nil {
			value, err = nil, fmt.Errorf("the tool panicked: %v", r)
		}
	}()
	return do(ctx)
}

// startable reports whether a call in this stage may run: for the first time, or
// once more because its body goes on.
func startable(s approval.Stage) bool {
	return s == approval.StageReady || s == approval.StageSuspended
}
