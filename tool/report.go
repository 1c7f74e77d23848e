package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

type runningKey struct{}

// A Running is a call that runs: what its [Do] can report to, and ask. A nil Running is that of a
// Do without a gate: it records nothing, and its questions fail with [ErrNoGate].
type Running struct {
	gate   *Gate
	exec   *approval.Execution
	call   policy.Call
	wait   *approval.Wait
	choice string
	parts  atomic.Int64 // further calls that were put to the gate as parts of it

	connect sync.Once
	conns   *Connections
}

// RunningIn returns the call that runs in a context; nil if there is none.
func RunningIn(ctx context.Context) *Running {
	r, _ := ctx.Value(runningKey{}).(*Running)
	return r
}

// In returns a context in which this call runs: for what a process of the call wants from outside.
func (r *Running) In(ctx context.Context) context.Context {
	return context.WithValue(ctx, runningKey{}, r)
}

// Report records what became known while the call runs: [approval.EventConfined] for what a sandbox
// refused to it, or that it was let out of one; [approval.EventUnexpected] for something that its
// judgement did not foresee; [approval.EventTripped] where the system seems to have refused that.
func (r *Running) Report(ctx context.Context, kind approval.EventKind, what string) error {
	if r == nil {
		return nil
	}
	return r.exec.Report(ctx, kind, what)
}

// Started notes what the call started, for the record of its end.
func (r *Running) Started(what []string) {
	if r != nil {
		r.exec.Ran(what)
	}
}

// Basis returns the text of the rule or grant that let the call run; empty if none did.
func (r *Running) Basis() string {
	if r == nil {
		return ""
	}
	return r.exec.Basis()
}

// Wait is the call as what waits for the questions that come up meanwhile; nil without one.
func (r *Running) Wait() *approval.Wait {
	if r == nil {
		return nil
	}
	return r.wait
}

// Choice returns the id of the choice that the person made, if the action offered some.
func (r *Running) Choice() string {
	if r == nil {
		return ""
	}
	return r.choice
}

// Session returns the session of the call; empty without one.
func (r *Running) Session() string {
	if r == nil {
		return ""
	}
	return r.call.Session
}

// ErrNoGate says that a Do does not run behind a gate, so that nothing more can be asked.
var ErrNoGate = errors.New("this does not run behind a gate, so nothing more can be asked; run the call with tool.Call")

// Judge judges further acts of the call, by what is remembered now. Nobody is asked and no mode
// answers: what nothing covers is pending.
func (r *Running) Judge(ctx context.Context, acts []policy.Act) (policy.Judgement, error) {
	if r == nil {
		return policy.Judgement{}, ErrNoGate
	}
	return r.exec.Judge(ctx, acts)
}

// Look prepares a further call of the same tool, as a part of this one, and judges it like
// [Running.Judge]. Values of the context reach the tool's Prepare.
func (r *Running) Look(ctx context.Context, args json.RawMessage) (policy.Judgement, error) {
	if r == nil {
		return policy.Judgement{}, ErrNoGate
	}
	call := policy.Call{Tool: r.call.Tool, Connector: r.call.Connector, Arguments: args}
	_, p, err := r.gate.set.prepareSafely(ctx, call)
	if err != nil {
		return policy.Judgement{}, err
	}
	return r.exec.Judge(ctx, p.Acts)
}

// A Part is a further call that was put to the gate as a part of the one that runs.
type Part struct {
	gate  *Gate
	batch *approval.Batch
	ctx   context.Context
}

// Ask puts a further call of the same tool to the gate, as a part of this one, and waits for the
// answer. Values of the context reach the tool's Prepare.
func (r *Running) Ask(ctx context.Context, args json.RawMessage) (*Part, error) {
	if r == nil {
		return nil, ErrNoGate
	}
	call := policy.Call{
		ID:   fmt.Sprintf("%s.%d", r.call.ID, r.parts.Add(1)),
		Tool: r.call.Tool, Connector: r.call.Connector, Arguments: args,
		Session: r.call.Session, Workers: r.call.Workers,
	}
	b := r.gate.Review(ctx, call)
	r.gate.Ask(ctx, b)
	return &Part{gate: r.gate, batch: b, ctx: context.WithoutCancel(ctx)}, nil
}

// Outcome is how the part was answered.
func (p *Part) Outcome() approval.Outcome { return p.batch.Outcome(0) }

// Begin takes the answer, right before the part happens, and records it. What was shown
// must still hold; then the part is done by whoever asked.
func (p *Part) Begin() error {
	o := p.Outcome()
	if err := o.Err(); err != nil {
		return err
	}
	if !o.Runs() { // a person answered in its place, which means nothing here
		return fmt.Errorf("%w: %s", approval.ErrNotAllowed, o.State)
	}
	if o.Original != nil {
		return fmt.Errorf("%w: a part of a call that runs cannot be changed", approval.ErrNotAllowed)
	}
	_, proposal, _ := p.gate.set.prepareSafely(p.ctx, o.Call)
	exec, err := p.batch.Start(p.ctx, 0, proposal)
	if err != nil {
		return err
	}
	return exec.End(p.ctx, approval.StageCompleted, nil)
}

// Close ends the part without it: what is asked again about it takes no answer.
func (p *Part) Close() { p.batch.Close() }

type progressKey struct{}

// WithProgress returns a context in which tools tell w what they print while they
// run, so that a person sees that they are alive. What is written is raw output;
// whoever shows it makes it safe. It must not block: the tool waits for it.
func WithProgress(ctx context.Context, w io.Writer) context.Context {
	return context.WithValue(ctx, progressKey{}, w)
}

// Progress returns where a [Do] may write its output as it comes. Nobody need be
// there to see it, so it is never the tool's result.
func Progress(ctx context.Context) io.Writer {
	if w, ok := ctx.Value(progressKey{}).(io.Writer); ok {
		return w
	}
	return io.Discard
}
