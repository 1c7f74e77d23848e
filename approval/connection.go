package approval

import (
	"context"
	"time"

	"github.com/assent-dev/assent/policy"
)

// An EndedConnection is one that a process made, or wanted to make.
type EndedConnection struct {
	Host, Port, Program string
	// Sent and Received are the bytes to and from the host.
	Sent, Received int64
	Duration       time.Duration
	// By says by what it was let through or refused.
	By Permit
	// Err is why it was refused, failed or was cut; nil if its sides ended it.
	Err error
}

// A Permit is what lets something happen while a call runs, or refuses it. The zero Permit
// refuses.
type Permit struct {
	State policy.State
	Rule  string // id of the rule, if one decided
	Grant string // id of the grant, if one did
	// Basis is its text: a rule, a grant, a line of config.
	Basis string
	Who   policy.Who
}

// PermitBy returns what decided about the acts.
func PermitBy(j policy.Judgement, acts []policy.Act) Permit {
	var o Outcome
	o.apply(j)
	p := o.Permit()
	if p.Basis == "" && j.State == policy.StateFree && len(acts) > 0 {
		p.Basis = acts[0].Why
	}
	return p
}

// Permit returns what decided.
func (o *Outcome) Permit() Permit {
	p := Permit{State: o.State, Rule: o.Rule, Grant: o.Grant, Basis: o.Basis, Who: policy.Who{Via: o.via()}}
	if o.Decision != nil {
		p.Who = o.Decision.By
	}
	return p
}

// RecordConnection records a connection that a process of the call made or wanted to make.
func (g *Gate) RecordConnection(ctx context.Context, call policy.Call, c EndedConnection) error {
	o := Outcome{Call: call, State: c.By.State, Stage: StageAfter(c.By.State), Rule: c.By.Rule, Grant: c.By.Grant, Basis: c.By.Basis}
	if o.Runs() {
		o.Stage = StageCompleted
		if c.Err != nil {
			o.Stage = StageFailed
		}
	}
	act := policy.Act{Name: policy.ActConnect, Target: policy.HostTarget(c.Host, c.Port)}
	o.Acts = []policy.Act{act}
	e := o.event(EventConnected, g.cfg.Clock())
	e.Arguments = nil // the record of the call has them
	e.Host, e.Port, e.Program, e.Sent, e.Received, e.Duration, e.By = act.Target.URL.Host, c.Port, c.Program, c.Sent, c.Received, c.Duration, c.By.Who
	if c.Err != nil {
		e.Error = c.Err.Error()
	}
	return g.record(context.WithoutCancel(ctx), e)
}
