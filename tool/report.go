package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

type runningKey struct{}

// running is a call that runs: what its Do can report to, and ask.
type running struct {
	gate  *Gate
	exec  *approval.Execution
	call  policy.Call
	wait  *approval.Wait
	parts atomic.Int64 // further calls that were put to the gate as parts of it

	connect sync.Once
	conns   *Connections
}

// withRunning returns the context of a call that runs.
func withRunning(ctx context.Context, g *Gate, x *approval.Execution, o approval.Outcome, w *approval.Wait) context.Context {
	return context.WithValue(ctx, runningKey{}, &running{gate: g, exec: x, call: o.Call, wait: w})
}

func runningIn(ctx context.Context) *running {
	r, _ := ctx.Value(runningKey{}).(*running)
	return r
}

// Running returns a context that ends with the first and belongs to the call that runs in the
// second: for what a process of the call wants from outside.
func Running(ctx, call context.Context) context.Context {
	return context.WithValue(ctx, runningKey{}, runningIn(call))
}

// ReportConfined records, for the call that runs in this context, what a sandbox refused to
// it, or that it was let out of one. A call without a gate records nothing.
func ReportConfined(ctx context.Context, what string) error {
	return report(ctx, approval.EventConfined, what)
}

// ReportUnexpected records that the call which runs in this context was about to do
// something that its judgement did not foresee.
func ReportUnexpected(ctx context.Context, what string) error {
	return report(ctx, approval.EventUnexpected, what)
}

// ReportTripped records that the system seems to have refused something to the call which runs
// in this context that its judgement did not foresee.
func ReportTripped(ctx context.Context, what string) error {
	return report(ctx, approval.EventTripped, what)
}

func report(ctx context.Context, kind approval.EventKind, what string) error {
	r := runningIn(ctx)
	if r == nil {
		return nil
	}
	return r.exec.Report(ctx, kind, what)
}

// ReportRan notes what the call that runs in this context started, for the record of its
// end.
func ReportRan(ctx context.Context, what []string) {
	if r := runningIn(ctx); r != nil {
		r.exec.Ran(what)
	}
}

// Basis returns the text of the rule or grant that let the call run which runs in this context;
// empty if none did.
func Basis(ctx context.Context) string {
	if r := runningIn(ctx); r != nil {
		return r.exec.Basis()
	}
	return ""
}

// Waiting is the call that runs in this context, for the questions that come up meanwhile; nil
// without one.
func Waiting(ctx context.Context) *approval.Wait {
	if r := runningIn(ctx); r != nil {
		return r.wait
	}
	return nil
}

// Session returns the session of the call that runs in this context; empty without one.
func Session(ctx context.Context) string {
	if r := runningIn(ctx); r != nil {
		return r.call.Session
	}
	return ""
}

// ErrNoGate says that a Do does not run behind a gate, so that nothing more can be asked.
var ErrNoGate = errors.New("this does not run behind a gate, so nothing more can be asked; run the call with tool.Call")

// JudgeWithin judges further acts of the call that runs in this context, by what is
// remembered now. Nobody is asked and no mode answers: what nothing covers is pending.
func JudgeWithin(ctx context.Context, acts []policy.Act) (policy.Judgement, error) {
	r := runningIn(ctx)
	if r == nil {
		return policy.Judgement{}, ErrNoGate
	}
	return r.exec.Judge(ctx, acts)
}

// LookWithin prepares a further call of the same tool, as a part of the one that runs in this
// context, and judges it like [JudgeWithin]. Values of the context reach the tool's Prepare.
func LookWithin(ctx context.Context, args json.RawMessage) (policy.Judgement, error) {
	r := runningIn(ctx)
	if r == nil {
		return policy.Judgement{}, ErrNoGate
	}
	_, p, err := r.gate.set.prepareSafely(ctx, policy.Call{Tool: r.call.Tool, Connector: r.call.Connector, Arguments: args})
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

// AskWithin puts a further call of the same tool to the gate, as a part of the one that runs in
// this context, and waits for the answer. Values of the context reach the tool's Prepare.
func AskWithin(ctx context.Context, args json.RawMessage) (*Part, error) {
	r := runningIn(ctx)
	if r == nil {
		return nil, ErrNoGate
	}
	call := policy.Call{
		ID:   fmt.Sprintf("%s.%d", r.call.ID, r.parts.Add(1)),
		Tool: r.call.Tool, Connector: r.call.Connector, Arguments: args, Session: r.call.Session, Workers: r.call.Workers,
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
