package approval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
)

// savedVersion is the version of the JSON form of a batch.
const savedVersion = 1

type savedBatch struct {
	Version int          `json:"version"`
	ID      string       `json:"id"`
	Entries []savedEntry `json:"entries"`
}

type savedEntry struct {
	Outcome Outcome  `json:"outcome"`
	Request *Request `json:"request,omitempty"`
	Former  []string `json:"former,omitempty"`
}

// MarshalJSON writes the batch, with the views of what is pending, so that it
// can be answered later or elsewhere. A gate runs each call of a batch once,
// however often it is restored; across processes that is for the store to see to. Keep it where the agent cannot write: it
// says what was approved.
func (b *Batch) MarshalJSON() ([]byte, error) {
	b.mu.Lock()
	b.copied = true
	out := savedBatch{Version: savedVersion, ID: b.id}
	for _, e := range b.entries {
		s := savedEntry{Outcome: e.outcome, Former: e.former}
		if e.pending() {
			s.Request = e.request
		}
		out.Entries = append(out.Entries, s)
	}
	b.mu.Unlock()
	return json.Marshal(out)
}

// Restore reads a batch that was written with MarshalJSON. What is pending is
// prepared again, on top of what the calls before it would leave: if it is no
// longer what was shown, it is asked anew, and an answer to the old request has no
// effect. What a rule allows by now runs only if nobody has answered meanwhile. A
// call that had started and whose end was not seen is unknown and never repeated.
func (g *Gate) Restore(ctx context.Context, data []byte) (*Batch, error) {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("saved batch: %w", err)
	}
	if head.Version != savedVersion {
		return nil, fmt.Errorf("saved batch: version %d; this program knows version %d", head.Version, savedVersion)
	}
	var in savedBatch
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("saved batch: %w", err)
	}
	if in.ID == "" {
		return nil, errors.New("saved batch: it has no id")
	}
	calls, requests := map[string]bool{}, map[string]bool{}
	for i := range in.Entries {
		s := &in.Entries[i]
		err := checkSaved(s)
		if id := s.Outcome.Request; err == nil && id != "" && requests[id] {
			err = fmt.Errorf("duplicate request %q", id)
		}
		if id := s.Outcome.Call.ID; err == nil && calls[id] && s.Outcome.State != policy.StateInvalid {
			err = fmt.Errorf("duplicate id %q", id)
		}
		if err != nil {
			return nil, fmt.Errorf("saved batch: call %d: %w", i+1, err)
		}
		calls[s.Outcome.Call.ID], requests[s.Outcome.Request] = true, true
	}
	g.closeLive(in.ID)
	b := g.newBatch(in.ID, len(in.Entries))
	b.copied = true
	drafts := make([]draft, len(in.Entries))
	turn := g.turn(ctx)
	for i, s := range in.Entries {
		drafts[i] = b.restore(turn, b.entries[i], s)
	}
	// From the first commit on others see the batch, so all is ready before.
	for i, d := range drafts {
		b.commit(ctx, b.entries[i], d)
	}
	return b, nil
}

// checkSaved refuses what no gate would have written. Writing JSON may have
// spelled the arguments otherwise, so they are made canonical again.
func checkSaved(s *savedEntry) error {
	o := &s.Outcome
	args, err := canonical.Arguments(o.Call.Arguments)
	switch {
	case err == nil:
		o.Call.Arguments = args
	case o.State == policy.StateInvalid || o.State == policy.StateBlocked:
		o.Call.Arguments = nil
	default:
		return err
	}
	if o.Original != nil {
		if o.Original, err = canonical.Arguments(o.Original); err != nil {
			return fmt.Errorf("original %w", err)
		}
	}
	if o.State == policy.StatePending {
		return checkSavedRequest(o, s.Request)
	}
	return checkSavedAnswer(o)
}

func checkSavedRequest(o *Outcome, r *Request) error {
	switch {
	case r == nil || r.ID == "" || r.ID != o.Request:
		return errors.New("it is pending and has no request")
	case r.Fingerprint != o.Fingerprint || r.Fingerprint.IsZero():
		return errors.New("its request has another fingerprint")
	case o.Stage != StageWaiting:
		return fmt.Errorf("it is %s and %s", o.State, orNone(o.Stage))
	}
	return nil
}

func checkSavedAnswer(o *Outcome) error {
	if !o.State.Known() {
		return fmt.Errorf("unknown state %q", string(o.State))
	}
	switch d := o.Decision; {
	case o.State.Runs() && o.Fingerprint.IsZero():
		return fmt.Errorf("it is %s and has no fingerprint", o.State)
	case o.State.Runs() && !afterApproval(o.Stage), !o.State.Runs() && o.Stage != StageAfter(o.State):
		return fmt.Errorf("it is %s and %s", o.State, orNone(o.Stage))
	case o.State == policy.StateApproved && (d == nil || d.Answer != AnswerApprove || d.Fingerprint != o.Fingerprint):
		return errors.New("it is approved and nobody said so")
	case o.State == policy.StateAnswered && (d == nil || d.Answer != AnswerRespond):
		return errors.New("it is answered and nobody did")
	}
	return nil
}

// afterApproval reports whether a call that may run can be in the stage.
func afterApproval(s Stage) bool {
	switch s {
	case StageReady, StageExecuting, StageCompleted, StageFailed, StageCancelled, StageSuspended, StageUnknown, StageReleased:
		return true
	}
	return false
}

// restore drafts what a saved entry is now.
func (b *Batch) restore(ctx context.Context, e *entry, s savedEntry) draft {
	e.former = s.Former
	s.Outcome.Call.Project = cmp.Or(b.gate.cfg.Project, s.Outcome.Call.Project)
	if s.Outcome.State != policy.StatePending {
		if s.Outcome.State == policy.StateAnswered {
			if why := b.gate.miscounts(ctx, &s.Outcome); why != nil {
				return b.askedAgain(ctx, e, s.Outcome, why)
			}
		}
		if s.Outcome.Stage == StageExecuting {
			s.Outcome.Stage = StageUnknown
		}
		b.gate.foresee(ctx, &s.Outcome)
		return draft{outcome: s.Outcome}
	}
	next, old := b.gate.review(ctx, e, s.Outcome), s.Request
	if next.outcome.Runs() {
		next = b.unlessAnswered(ctx, e, next, old)
	}
	r := next.request
	switch {
	case r == nil:
	case r.Fingerprint != old.Fingerprint || r.PersonOnly && !old.PersonOnly || !r.Routing.asks(old.Routing):
		e.former = append(e.former, old.ID)
		r.Why = joinReasons("asked again because it is no longer what was shown", r.Why)
	case b.gate.endedUnanswered(ctx, old):
		e.former = append(e.former, old.ID)
	default:
		// Votes are for the policy that was in force when it was asked.
		r.ID, r.Created, r.Routing = old.ID, old.Created, old.Routing
		next.outcome.Request, next.outcome.Asked, next.outcome.Routing = old.ID, old.Created, old.Routing
	}
	return next
}

// miscounts reports why a result that people gave in place of the call does not count, by what is known now. An approval
// is counted again when the call starts; here nothing will.
func (g *Gate) miscounts(ctx context.Context, o *Outcome) error {
	if g.cfg.Team == nil && o.Decision.By.Via != policy.ViaTeam {
		return nil
	}
	_, p, err := g.prepare(g.turn(ctx), o.Call) // apart from the others: it leaves nothing for them
	if err != nil {
		return err
	}
	return g.stillDecided(ctx, &draft{outcome: *o, proposal: &p})
}

// unlessAnswered returns the draft, of a call that runs now and was asked as old,
// if nobody has answered that; from now on nobody can. Otherwise the call waits
// until the answer takes effect: what a person said holds, whatever came after it.
func (b *Batch) unlessAnswered(ctx context.Context, e *entry, next draft, old *Request) draft {
	o := next.outcome
	err := b.gate.win(ctx, old, Settlement{State: o.State, By: policy.Who{Via: o.via()}})
	if err == nil {
		return next
	}
	same := o.Fingerprint == old.Fingerprint
	if lost := (*SettledError)(nil); errors.As(err, &lost) {
		d := lost.Decision
		if d == nil || !same && d.Answer == AnswerApprove && d.Arguments == nil {
			return next
		}
	}
	acts := next.proposal.Acts
	j := policy.Judgement{State: policy.StatePending, Why: err.Error(), Open: policy.Asking(acts), Trace: o.Trace}
	if same { // the answer is about what was open then
		j.Open = slices.DeleteFunc(slices.Clone(old.Open), func(i int) bool { return i < 0 || i >= len(acts) })
	}
	next.outcome.apply(j)
	return b.gate.ask(ctx, e, next, j)
}

// endedUnanswered reports whether a request that was posted has ended without an
// answer that can take effect: under its id no other can be given.
func (g *Gate) endedUnanswered(ctx context.Context, r *Request) bool {
	store, ok := g.cfg.Requests.(RequestStore)
	if !ok {
		return false
	}
	p, err := store.Posted(ctx, r.ID)
	switch {
	case err != nil:
		return false
	case p.Settled == nil:
		return p.Request.Origin.Process != (Process{}) && g.orphaned(ctx, store, r)
	}
	_, err = p.answer()
	return err != nil
}

// orphaned reports whether nobody sees the request any more, because the process that waited for its answer was killed,
// and ends it. If an answer came first, that holds.
func (g *Gate) orphaned(ctx context.Context, store RequestStore, r *Request) bool {
	open, err := store.Open(ctx, r.Call.Session)
	if err != nil || slices.ContainsFunc(open, func(p Posted) bool { return p.Request.ID == r.ID }) {
		return false
	}
	return g.win(ctx, r, Settlement{State: policy.StateDismissed}) == nil
}
