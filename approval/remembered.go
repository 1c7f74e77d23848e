package approval

import (
	"context"
	"fmt"
	"reflect"

	"github.com/assent-dev/assent/policy"
)

// Remembered is what answers calls of a session now. The zero Remembered has everything
// asked.
type Remembered struct {
	Rules  *policy.RuleSet
	Grants *policy.GrantSet
	// Off says that the master switch is: people are not asked.
	Off bool
}

// A MemoryStore keeps rules and grants and has the master switch. If it is both Rules and
// Grants of a gate, it is asked for all of it at once, which is cheaper than one by one.
type MemoryStore interface {
	RuleStore
	GrantStore
	Switch
	Remembered(ctx context.Context, session string) (Remembered, error)
}

// remembered reads what is remembered now, together or one by one.
func (g *Gate) remembered(ctx context.Context, session string) (r Remembered, err error) {
	if all, ok := g.cfg.Rules.(MemoryStore); ok && same(g.cfg.Grants, g.cfg.Rules) {
		err = safely("reading what is remembered", func() (err error) {
			r, err = all.Remembered(ctx, session)
			return err
		})
		if err != nil {
			err = fmt.Errorf("what is remembered cannot be read: %w", err)
		}
		return r, err
	}
	if r.Off, err = g.switchedOff(ctx); err != nil {
		return r, fmt.Errorf("the master switch cannot be read: %w", err)
	}
	if g.cfg.Rules != nil {
		err = safely("reading the rules", func() (err error) {
			r.Rules, err = g.cfg.Rules.Rules(ctx)
			return err
		})
		if err != nil {
			return r, fmt.Errorf("the rules cannot be read: %w", err)
		}
	}
	err = safely("reading the grants", func() (err error) {
		r.Grants, err = g.cfg.Grants.Grants(ctx, session)
		return err
	})
	if err != nil {
		return r, fmt.Errorf("the grants cannot be read: %w", err)
	}
	return r, nil
}

// same reports whether two stores are one. Of values that cannot be compared nobody knows.
func same(a, b any) bool { return reflect.ValueOf(a).Comparable() && a == b }

// policy is what answers calls of a session now: what is remembered, and what is fixed.
func (g *Gate) policy(ctx context.Context, session string) (policy.Policy, error) {
	r, err := g.remembered(ctx, session)
	p := policy.Policy{Rules: r.Rules, Fixed: g.cfg.Policy, Grants: r.Grants, Mode: g.cfg.Mode}
	if r.Off && p.Mode == policy.ModeAsk {
		p.Mode = policy.ModeApproveAll
	}
	return p, err
}

// A Switch is the master switch of all gates that share it. Off, [policy.ModeAsk] answers
// as [policy.ModeApproveAll] does; what waits already is still asked. It is looked at for
// every judgement, also at the last moment before a call runs.
type Switch interface {
	// Approvals reports whether people are asked.
	Approvals(ctx context.Context) (on bool, err error)
}

// switchedOff reports whether the master switch is off. A mode that asks nobody does not
// look at it.
func (g *Gate) switchedOff(ctx context.Context) (off bool, err error) {
	master, ok := g.cfg.Rules.(Switch)
	if !ok || g.cfg.Mode != policy.ModeAsk {
		return false, nil
	}
	err = safely("reading the master switch", func() error {
		on, err := master.Approvals(ctx)
		off = err == nil && !on
		return err
	})
	return off, err
}
