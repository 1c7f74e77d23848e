package approval

import (
	"context"
	"encoding/json"
	"fmt"
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
// can be answered later or elsewhere. Keep it where the agent cannot write: it
// says what was approved.
func (b *Batch) MarshalJSON() ([]byte, error) {
	b.mu.Lock()
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
// prepared again: if it is no longer what was shown, it is asked anew, and an
// answer to the old request has no effect. A call that had started and whose end
// was not seen is unknown and never repeated.
func (g *Gate) Restore(ctx context.Context, data []byte) (*Batch, error) {
	var in savedBatch
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("saved batch: %w", err)
	}
	if in.Version != savedVersion {
		return nil, fmt.Errorf("saved batch: version %d; this program knows version %d", in.Version, savedVersion)
	}
	b := &Batch{gate: g, id: in.ID}
	for i := range in.Entries {
		s := &in.Entries[i]
		if err := checkSaved(s); err != nil {
			return nil, fmt.Errorf("saved batch: call %d: %w", i+1, err)
		}
		e := &entry{batch: b, outcome: s.Outcome, former: s.Former}
		e.outcome.entry = e
		b.entries = append(b.entries, e)
	}
	for i, s := range in.Entries {
		b.restore(ctx, b.entries[i], s)
	}
	return b, nil
}

// checkSaved refuses what no gate would have written. Writing JSON may have
// spelled the arguments otherwise, so they are made canonical again.
func checkSaved(s *savedEntry) error {
	o := &s.Outcome
	args, err := CanonicalArguments(o.Call.Arguments)
	if err != nil && o.State != Invalid {
		return err
	}
	if err == nil {
		o.Call.Arguments = args
	}
	if _, known := knownStates[o.State]; !known {
		return fmt.Errorf("unknown state %q", string(o.State))
	}
	switch {
	case o.State == Pending && s.Request == nil:
		return fmt.Errorf("it is pending and has no request")
	case o.State == Pending && (s.Request.Fingerprint != o.Fingerprint || s.Request.Fingerprint.IsZero()):
		return fmt.Errorf("its request has another fingerprint")
	case o.State.Runs() && o.Fingerprint.IsZero():
		return fmt.Errorf("it is %s and has no fingerprint", o.State)
	case !o.State.Runs() && o.Stage != o.State.Stage():
		return fmt.Errorf("it is %s and %s", o.State, orNone(o.Stage))
	case o.State == Approved && (o.Decision == nil || o.Decision.Answer != Approve):
		return fmt.Errorf("it is approved and nobody said so")
	}
	return nil
}

func (b *Batch) restore(ctx context.Context, e *entry, s savedEntry) {
	if e.outcome.Stage == StageExecuting {
		e.outcome.Stage = StageUnknown
		return
	}
	if !e.pending() {
		return
	}
	e.taken = true
	e.outcome.State = "" // until it is known whether the old request still stands
	next := b.gate.review(ctx, b, s.Outcome)
	if next.request != nil && next.request.Fingerprint == s.Request.Fingerprint {
		next.request.ID, next.request.Created = s.Request.ID, s.Request.Created
		next.outcome.Request = s.Request.ID
	} else {
		e.former = append(e.former, s.Request.ID)
	}
	b.commit(e, next)
}
