package approval

import (
	"context"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/policy"
)

// Review settles what can be settled without a person and leaves the rest
// pending. It never waits for anybody, and every call gets an outcome.
func (g *Gate) Review(ctx context.Context, calls ...policy.Call) *Batch {
	ctx = g.turn(ctx)
	b := g.newBatch(g.cfg.NewID(), len(calls))
	drafts := make([]draft, len(calls))
	seen := make(map[string]bool, len(calls))
	for i, call := range calls {
		if call.ID == "" {
			call.ID = g.cfg.NewID()
		}
		if i >= MaxCallsPerTurn {
			call.Arguments = nil // it is refused, whatever they are
		}
		call, err := g.identify(call)
		start := Outcome{Call: call, State: policy.StatePending, Stage: StageWaiting}
		switch {
		case i >= MaxCallsPerTurn:
			why := fmt.Sprintf("a turn may have %d calls at most; this is number %d", MaxCallsPerTurn, i+1)
			drafts[i] = g.refuse(ctx, start, policy.StateBlocked, why)
		case err != nil:
			drafts[i] = g.invalid(ctx, start, err)
		case seen[call.ID]:
			drafts[i] = g.invalid(ctx, start, fmt.Errorf("the call id %q is used twice in one turn", call.ID))
		default:
			drafts[i] = g.review(ctx, b.entries[i], start)
		}
		seen[call.ID] = true
	}
	for i, d := range drafts {
		b.commit(ctx, b.entries[i], d)
	}
	return b
}

// turn is the context in which the calls of one turn are prepared on top of each other.
func (g *Gate) turn(ctx context.Context) context.Context {
	if t, ok := g.cfg.Preparer.(TurnPreparer); ok {
		return t.Turn(ctx)
	}
	return ctx
}

// foresee prepares a call that may yet run, so that those after it are prepared on what it would leave. What comes of
// that is for its own start to see.
func (g *Gate) foresee(ctx context.Context, o *Outcome) {
	if o.State == policy.StatePending || o.Runs() && o.Stage == StageReady {
		_, _, _ = g.prepare(ctx, o.Call)
	}
}

// Look judges a call as Review would, and leaves no trace: nothing is recorded, asked or
// counted.
func (g *Gate) Look(ctx context.Context, call policy.Call) (policy.Judgement, error) {
	call, err := g.identify(call)
	if err != nil {
		return policy.Judgement{}, err
	}
	call, p, err := g.prepare(ctx, call)
	if err != nil {
		return policy.Judgement{}, err
	}
	return g.judgement(ctx, &Outcome{Call: call}, &p, false)
}

// review judges a call from the start.
func (g *Gate) review(ctx context.Context, e *entry, o Outcome) draft {
	call, p, err := g.prepare(ctx, o.Call)
	if err != nil {
		return g.invalid(ctx, o, err)
	}
	o.Call, o.Fingerprint = call, fingerprint(&call, &p)
	return g.judge(ctx, e, o, &p)
}

// judge answers a prepared call or makes a request of it.
func (g *Gate) judge(ctx context.Context, e *entry, o Outcome, p *Proposal) draft {
	seen := g.changes.Load()
	j, err := g.judgement(ctx, &o, p, false)
	if err != nil {
		return g.refuse(ctx, o, policy.StateDenied, err.Error())
	}
	return g.drafted(ctx, e, o, p, j, seen)
}

// drafted makes a draft of a judgement.
func (g *Gate) drafted(ctx context.Context, e *entry, o Outcome, p *Proposal, j policy.Judgement, seen uint64) draft {
	o.Acts = cloneActs(p.Acts)
	o.apply(j)
	d := draft{outcome: o, proposal: p, seen: seen}
	if j.State == policy.StatePending {
		return g.ask(ctx, e, d, j)
	}
	g.settle(ctx, &d)
	return d
}

// judgement judges a prepared call by what is remembered now.
func (g *Gate) judgement(ctx context.Context, o *Outcome, p *Proposal, approved bool) (policy.Judgement, error) {
	inForce, err := g.policy(ctx, o.Call.Session)
	if err != nil {
		return policy.Judgement{}, err
	}
	traced := !g.cfg.Untraced && o.Stage != StageExecuting // which is on record, with its trace
	q := p.Question(&o.Call, g.cfg.Clock())
	q.Approved, q.Traced = approved, traced
	return inForce.Judge(q), nil
}

// apply copies what was judged.
func (o *Outcome) apply(j policy.Judgement) {
	o.State, o.Stage, o.Why, o.Trace = j.State, StageAfter(j.State), j.Why, j.Trace
	o.PersonOnly = j.PersonOnly
	o.Rule, o.Grant, o.Basis = "", "", ""
	if j.Rule != nil {
		o.Rule, o.Basis = j.Rule.ID, j.Rule.Origin()
	}
	if j.Grant != nil {
		o.Grant, o.Basis = j.Grant.ID, "grant "+j.Grant.String()
	}
}

// ask makes a request, unless too many wait already.
func (g *Gate) ask(ctx context.Context, e *entry, d draft, j policy.Judgement) draft {
	request, err := g.newRequest(ctx, e.batch, &d.outcome, d.proposal, j)
	if err != nil {
		return g.refuse(ctx, d.outcome, policy.StateBlocked, err.Error())
	}
	if !e.counted && !g.reserve(d.outcome.Call.Session) {
		why := fmt.Sprintf("%d requests wait for an answer already", MaxPending)
		d.outcome.Trace = append(d.outcome.Trace, policy.Step{Look: "limit", Found: "refused", Source: why})
		return g.refuse(ctx, d.outcome, policy.StateBlocked, why)
	}
	e.counted = true
	d.request = request
	d.outcome.Request, d.outcome.Asked, d.outcome.Routing = request.ID, request.Created, request.Routing
	return d
}

// newRequest makes a request. It fails if no one can answer it.
func (g *Gate) newRequest(ctx context.Context, b *Batch, o *Outcome, p *Proposal, j policy.Judgement) (*Request, error) {
	r := &Request{
		ID: g.cfg.NewID(), Batch: b.id, Call: cloneCall(o.Call), Fingerprint: o.Fingerprint,
		Definition: p.Definition, SharesName: p.SharesName,
		Summary: p.Summary, Why: j.Why, Acts: cloneActs(p.Acts), Open: j.Open,
		PersonOnly: j.PersonOnly, NoSession: p.NoSession, NoAlways: p.NoAlways,
		Once: p.Once && !p.NoSession && !j.PersonOnly, Choices: p.Choices, Edit: p.Edit, YesOrNo: p.YesOrNo,
		wait: p.Wait, Trace: j.Trace, Created: g.cfg.Clock(), Origin: g.origin(ctx),
		view: &lazyView{build: p.View}, held: p.Held, done: make(chan struct{}),
	}
	if r.Summary == "" {
		r.Summary = "Tool call: " + o.Call.Name()
	}
	if p.View == nil {
		r.view.build = argumentsView(&r.Call)
	}
	if r.Offers = policy.Offers(&o.Call, p.Acts, j.Open); j.PersonOnly {
		r.Offers = policy.Denials(p.Acts, j.Open)
	}
	for i := range r.Offers {
		r.Offers[i].Warn = slices.Concat(r.Offers[i].Warn, j.Warnings)
	}
	return r, g.route(r)
}

func (g *Gate) origin(ctx context.Context) Origin {
	if g.cfg.Origin == nil {
		return Origin{}
	}
	return g.cfg.Origin(ctx)
}

// refuse drafts the end of a call that nobody is asked about.
func (g *Gate) refuse(ctx context.Context, o Outcome, s policy.State, why string) draft {
	o.State, o.Stage, o.Why = s, StageAfter(s), why
	d := draft{outcome: o}
	g.settle(ctx, &d)
	return d
}

func (g *Gate) invalid(ctx context.Context, o Outcome, err error) draft {
	o.err = err
	return g.refuse(ctx, o, policy.StateInvalid, err.Error())
}

// settle records a call that will not run. One that runs is recorded when it
// starts.
func (g *Gate) settle(ctx context.Context, d *draft) {
	if d.outcome.Runs() {
		return
	}
	g.recordEnd(ctx, d)
}

// recordEnd records that a call has ended without running. The record is
// written even if the run was interrupted; if it cannot be, the outcome says so.
func (g *Gate) recordEnd(ctx context.Context, d *draft) {
	err := g.record(context.WithoutCancel(ctx), d.event(EventEnded, g.cfg.Clock()))
	if err != nil {
		d.outcome.Why = joinReasons(d.outcome.Why, fmt.Sprintf("this could not be recorded: %v", err))
	}
}

// cloneActs copies acts with all that they hold.
func cloneActs(acts []policy.Act) []policy.Act {
	acts = slices.Clone(acts)
	for i := range acts {
		t := &acts[i].Target
		t.Written, t.Resolved, t.Words = slices.Clone(t.Written), slices.Clone(t.Resolved), slices.Clone(t.Words)
		t.Flags, t.Also = slices.Clone(t.Flags), slices.Clone(t.Also)
	}
	return acts
}

func cloneCall(c policy.Call) policy.Call {
	c.Arguments = slices.Clone(c.Arguments)
	c.Workers = slices.Clone(c.Workers)
	return c
}

func joinReasons(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
