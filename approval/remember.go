package approval

import (
	"context"
	"fmt"
	"time"

	"github.com/assent-dev/assent/policy"
)

// remember saves what the decision means for later calls, all of it or none.
func (g *Gate) remember(ctx context.Context, r *Request, d Decision) error {
	effect := policy.EffectDeny
	if d.Answer == AnswerApprove {
		effect = policy.EffectAllow
	}
	switch d.Remember.Keep {
	case KeepSession:
		return g.rememberGrants(ctx, r, d, effect)
	case KeepAlways:
		return g.rememberRules(ctx, r, d, effect)
	}
	return nil
}

func (g *Gate) rememberGrants(ctx context.Context, r *Request, d Decision, effect policy.Effect) error {
	now := g.cfg.Clock()
	var grants []policy.Grant
	// Whoever has the request cannot change what is kept.
	for _, kept := range policy.GrantsFor(cloneActs(r.Acts), r.Open, d.Remember.Reach) {
		kept.ID, kept.Session, kept.Workers, kept.Shared = g.cfg.NewID(), r.Call.Session, r.Call.Workers, d.Remember.Shared
		kept.Effect, kept.Definition, kept.By = effect, r.Definition, d.By
		kept.Created, kept.Expires = now, expiry(now, d.Remember.For)
		grants = append(grants, kept)
	}
	inForce, err := g.policyWith(ctx, r.Call.Session, nil, grants)
	if err != nil {
		return err
	}
	if len(grants) == 0 || !decides(inForce, r, effect, now) {
		return fmt.Errorf("%w: it cannot be remembered for the session, because what it does is not known", ErrNotOffered)
	}
	return safely("saving the grants", func() error { return g.cfg.Grants.AddGrants(ctx, grants...) })
}

func expiry(now time.Time, lifetime time.Duration) time.Time {
	if lifetime == 0 {
		return time.Time{}
	}
	return now.Add(lifetime)
}

func (g *Gate) rememberRules(ctx context.Context, r *Request, d Decision, effect policy.Effect) error {
	if g.cfg.Rules == nil {
		return fmt.Errorf("%w: answer for this once or for the session", ErrNoRuleStore)
	}
	rules, err := g.rulesToSave(ctx, r, d, effect)
	if err != nil || len(rules) == 0 {
		return err
	}
	return safely("saving the rules", func() error { return g.cfg.Rules.AddRules(ctx, rules...) })
}

// rulesToSave returns the rules that the decision asks for and that are not
// there yet. Together they must decide about this call as the person did.
func (g *Gate) rulesToSave(ctx context.Context, r *Request, d Decision, effect policy.Effect) ([]policy.Rule, error) {
	texts := d.Remember.Rules
	if len(texts) == 0 {
		texts = r.offered(d.Remember.Reach, effect)
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("%w: no rule says this; write one, or answer for the session", ErrNotOffered)
	}
	inForce, err := g.policy(ctx, r.Call.Session)
	if err != nil {
		return nil, err
	}
	now := g.cfg.Clock()
	all := inForce.Rules.Rules()
	var fresh []policy.Rule
	for _, text := range texts {
		rule, err := policy.Ground{}.Parse(text) // one that would match nothing is refused
		if err != nil {
			return nil, err
		}
		if rule.Effect != effect {
			return nil, fmt.Errorf("%w: the answer is to %s, the rule says %q", ErrInvalidDecision, effect, text)
		}
		if !d.Remember.Everywhere {
			rule.Project = r.Call.Project
		}
		if policy.HasRule(all, rule, now) {
			continue
		}
		rule.ID, rule.Created, rule.Expires = g.cfg.NewID(), now, expiry(now, d.Remember.For)
		fresh = append(fresh, rule)
		all = append(all, rule)
	}
	if inForce.Rules, err = policy.CompileRules(all); err != nil {
		return nil, err
	}
	if !decides(inForce, r, effect, now) {
		return nil, fmt.Errorf("%w: the rules would not cover this call", ErrInvalidDecision)
	}
	return fresh, nil
}

// decides reports whether what is remembered would decide about the call of the
// request by itself; if not, the person would believe to have answered for
// longer than this once.
func decides(p policy.Policy, r *Request, effect policy.Effect, now time.Time) bool {
	call := r.Call
	call.Definition = r.Definition
	p.Mode = policy.ModeAsk
	j := p.Judge(policy.Question{Call: &call, Definition: r.Definition, SharesName: r.SharesName, Acts: r.Acts, Now: now})
	if effect == policy.EffectDeny {
		return j.State == policy.StateAutoDenied
	}
	return j.State == policy.StateAutoApproved || j.State == policy.StateSessionApproved
}

// offered returns the rules that the request offers for a reach.
func (r *Request) offered(reach policy.Reach, effect policy.Effect) []string {
	if reach == "" {
		reach = policy.ReachExact
	}
	for _, o := range r.Offers {
		if o.Reach == reach {
			if effect == policy.EffectDeny {
				return o.Deny
			}
			return o.Allow
		}
	}
	return nil
}
