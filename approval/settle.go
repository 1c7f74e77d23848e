package approval

import (
	"cmp"
	"context"
	"slices"

	"github.com/assent-dev/assent/policy"
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

// Close ends the batch here: what is pending in it takes no more answers and no
// longer counts as waiting. A program closes a batch that it has saved and will
// not go on with.
func (b *Batch) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for _, e := range b.entries {
		if e.counted {
			e.counted = false
			b.gate.release(e.outcome.Call.Session)
		}
		if e.pending() && e.request != nil {
			select {
			case <-e.request.done:
			default:
				close(e.request.done)
			}
		}
	}
	b.gate.track(b, false)
}

// closeLive closes the batch with this id, if it still waits: it is restored.
func (g *Gate) closeLive(id string) {
	for _, b := range g.waiting() {
		if b.id == id {
			b.Close()
		}
	}
}

// claim reports whether call i of a batch of which there may be copies has not
// been started from another copy, and notes that it is now.
func (g *Gate) claim(b *Batch, i int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := startKey{b.id, i}
	by, started := g.started[key]
	if started && by != b {
		return false
	}
	g.started[key] = b
	return true
}

// startKey names a call of a batch.
type startKey struct {
	batch string
	call  int
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
	g.changes.Add(1)
	for _, b := range g.waiting() {
		for _, e := range b.entries {
			b.recheck(ctx, e)
		}
	}
}

// recheck judges a pending entry by what is remembered now, if that has changed
// since it was judged last. One that still asks stays as it is, unless only a
// person may answer it now, or others decide: then it is asked again, and says so. That nobody would
// be asked now is no answer to what somebody may be reading.
func (b *Batch) recheck(ctx context.Context, e *entry) {
	if !b.takeStale(e) {
		return
	}
	seen := b.gate.changes.Load()
	o := e.outcome
	j, err := b.gate.judgement(ctx, &o, e.proposal, false)
	if err != nil || j.State == policy.StateModeApproved || j.State == policy.StatePending && (!j.PersonOnly || e.request.PersonOnly) && !b.gate.reroutes(e.request) {
		b.giveBack(ctx, e, seen)
		return
	}
	if j.State != policy.StatePending && b.gate.win(ctx, e.request, settlementOf(j)) != nil {
		b.giveBack(ctx, e, seen) // somebody has answered it, which is still to take effect here
		return
	}
	b.commit(ctx, e, b.gate.drafted(ctx, e, o, e.proposal, j, seen))
}

// settlementOf says how a request ends that is judged so without a person.
func settlementOf(j policy.Judgement) Settlement {
	via := policy.ViaRule
	if j.Grant != nil {
		via = policy.ViaGrant
	}
	return Settlement{State: j.State, By: policy.Who{Via: via}}
}

// Covers returns the other requests, of this gate and where its requests are
// posted, that wait and that an answer to r, remembered so, would settle as well,
// the oldest first.
func (g *Gate) Covers(ctx context.Context, r *Request, d Decision) []*Request {
	d.Remember = d.remembers(r)
	rules, grants, err := g.wouldSave(ctx, r, d)
	if err != nil || len(rules) == 0 && len(grants) == 0 {
		return nil
	}
	out, err := g.coversHere(ctx, r, rules, grants)
	if err != nil {
		return nil
	}
	out = append(out, g.coversElsewhere(ctx, r, out, rules, grants)...)
	slices.SortStableFunc(out, func(a, b *Request) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Batch, b.Batch))
	})
	return out
}

// coversHere returns what [Gate.Covers] finds among the requests of this gate.
func (g *Gate) coversHere(ctx context.Context, r *Request, rules []policy.Rule, grants []policy.Grant) (out []*Request, err error) {
	policies := map[string]policy.Policy{} // by session
	for _, b := range g.waiting() {
		for _, e := range b.entries {
			b.mu.Lock()
			o, p, other := e.outcome, e.proposal, e.request
			b.mu.Unlock()
			if o.State != policy.StatePending || other.ID == r.ID {
				continue
			}
			inForce, known := policies[o.Call.Session]
			if !known {
				if inForce, err = g.policyWith(ctx, o.Call.Session, rules, grants); err != nil {
					return nil, err
				}
				policies[o.Call.Session] = inForce
			}
			if inForce.Judge(p.Question(&o.Call, g.cfg.Clock())).State != policy.StatePending {
				out = append(out, other)
			}
		}
	}
	return out, nil
}

// wouldSave returns what the answer would have saved.
func (g *Gate) wouldSave(ctx context.Context, r *Request, d Decision) ([]policy.Rule, []policy.Grant, error) {
	if err := d.validate(r); err != nil {
		return nil, nil, err
	}
	rules, grants := &ruleDraft{Gate: g}, &grantDraft{Gate: g}
	trial := &Gate{cfg: g.cfg}
	trial.cfg.Grants = grants
	if g.cfg.Rules != nil {
		trial.cfg.Rules = rules
	}
	err := trial.remember(ctx, r, d)
	return rules.added, grants.added, err
}

// policyWith is the policy for a session as it would be with more remembered.
func (g *Gate) policyWith(ctx context.Context, session string, rules []policy.Rule, grants []policy.Grant) (policy.Policy, error) {
	inForce, err := g.policy(ctx, session)
	if err != nil {
		return policy.Policy{}, err
	}
	if inForce.Rules, err = policy.CompileRules(append(inForce.Rules.Rules(), rules...)); err != nil {
		return policy.Policy{}, err
	}
	inForce.Grants = policy.NewGrantSet(append(inForce.Grants.Grants(), grants...))
	return inForce, nil
}

// ruleDraft and grantDraft stand in for the stores to see what would be saved.
type ruleDraft struct {
	*Gate
	added []policy.Rule
}

func (s *ruleDraft) Rules(ctx context.Context) (*policy.RuleSet, error) {
	return s.cfg.Rules.Rules(ctx)
}

func (s *ruleDraft) AddRules(_ context.Context, rules ...policy.Rule) error {
	s.added = append(s.added, rules...)
	return nil
}

type grantDraft struct {
	*Gate
	added []policy.Grant
}

func (s *grantDraft) Grants(ctx context.Context, session string) (*policy.GrantSet, error) {
	return s.cfg.Grants.Grants(ctx, session)
}

func (s *grantDraft) AddGrants(_ context.Context, grants ...policy.Grant) error {
	s.added = append(s.added, grants...)
	return nil
}
