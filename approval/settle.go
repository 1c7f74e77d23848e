package approval

import (
	"context"
	"slices"
)

// reserve counts a request that begins to wait, if it may.
func (g *Gate) reserve(session string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pending[session] >= MaxPending {
		return false
	}
	g.pending[session]++
	return true
}

func (g *Gate) release(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.pending[session]--; g.pending[session] <= 0 {
		delete(g.pending, session)
	}
}

// track keeps the batches that have something pending.
func (g *Gate) track(b *Batch, waits bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if waits {
		g.batches[b] = struct{}{}
	} else {
		delete(g.batches, b)
	}
}

func (g *Gate) waiting() []*Batch {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]*Batch, 0, len(g.batches))
	for b := range g.batches {
		out = append(out, b)
	}
	return out
}

// resettle answers the pending requests that what is remembered now fully
// covers or denies.
func (g *Gate) resettle(ctx context.Context) {
	for _, b := range g.waiting() {
		b.mu.Lock()
		entries := slices.Clone(b.entries)
		b.mu.Unlock()
		for _, e := range entries {
			if b.take(e) {
				b.resettle(ctx, e)
			}
		}
	}
}

func (b *Batch) resettle(ctx context.Context, e *entry) {
	next, ok := b.covered(ctx, e)
	if !ok {
		b.giveBack(e)
		return
	}
	b.gate.settle(ctx, &next, e.request)
	b.commit(e, next)
}

func (b *Batch) covered(ctx context.Context, e *entry) (draft, bool) {
	next := draft{outcome: e.outcome, proposal: e.proposal}
	j, err := b.gate.judgement(ctx, &next.outcome, e.proposal, false)
	if err != nil || j.State == Pending {
		return next, false
	}
	next.outcome.apply(j)
	return next, true
}

// Covers returns the other requests of the gate that wait and that an answer
// to r, remembered so, would settle as well.
func (g *Gate) Covers(ctx context.Context, r *Request, d Decision) []*Request {
	policy, err := g.policyWith(ctx, r, d)
	if err != nil {
		return nil
	}
	var out []*Request
	for _, b := range g.waiting() {
		b.mu.Lock()
		for _, e := range b.entries {
			if !e.pending() || e.request.ID == r.ID || d.Remember.Keep == KeepSession && e.outcome.Call.Session != r.Call.Session {
				continue
			}
			q := Question{Call: &e.outcome.Call, Proposal: e.proposal, Now: g.cfg.Clock()}
			if policy.Judge(q).State != Pending {
				out = append(out, e.request)
			}
		}
		b.mu.Unlock()
	}
	return out
}

// policyWith is the policy as it would be after the answer.
func (g *Gate) policyWith(ctx context.Context, r *Request, d Decision) (Policy, error) {
	rules, grants := &ruleDraft{Gate: g}, &grantDraft{Gate: g}
	trial := &Gate{cfg: g.cfg}
	trial.cfg.Grants = grants
	if g.cfg.Rules != nil {
		trial.cfg.Rules = rules
	}
	if err := trial.remember(ctx, r, d); err != nil {
		return Policy{}, err
	}
	policy, err := g.policy(ctx, r.Call.Session)
	if err != nil {
		return Policy{}, err
	}
	if policy.Rules, err = CompileRules(append(policy.Rules.Rules(), rules.added...)); err != nil {
		return Policy{}, err
	}
	policy.Grants = NewGrantSet(append(policy.Grants.Grants(), grants.added...))
	return policy, nil
}

// ruleDraft and grantDraft stand in for the stores to see what would be saved.
type ruleDraft struct {
	*Gate
	added []Rule
}

func (s *ruleDraft) Rules(ctx context.Context) (*RuleSet, error) { return s.cfg.Rules.Rules(ctx) }

func (s *ruleDraft) AddRules(_ context.Context, rules ...Rule) error {
	s.added = append(s.added, rules...)
	return nil
}

type grantDraft struct {
	*Gate
	added []Grant
}

func (s *grantDraft) Grants(ctx context.Context, session string) (*GrantSet, error) {
	return s.cfg.Grants.Grants(ctx, session)
}

func (s *grantDraft) AddGrants(_ context.Context, grants ...Grant) error {
	s.added = append(s.added, grants...)
	return nil
}
