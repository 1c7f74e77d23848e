package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/link"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/policy"
)

// How much is sent in one call.
const (
	maxQuestions     = 64
	maxQuestionBytes = 3 << 20
)

// refusedFor is after which time a question is sent again that the server did not take: the directory or the bundle
// may know the machine by then.
const refusedFor = 20 * time.Second

// settledAfter is how long an answer of the team is given to take effect before the server is told that the question
// has ended: until then the gate may refuse it.
const settledAfter = 5 * time.Second

// questions are what the bridge knows of the questions that the server has. The lock of the bridge is for it.
type questions struct {
	round int // counts the looks at the store
	// sent are those that the server may have: it must be told when they end. They are kept in a file, before they
	// are sent.
	sent map[string]bool
	// taken are those that it said it has.
	taken map[string]bool
	// refused are when to send those again that it did not take.
	refused map[string]time.Time
	// given are the answers that were given to the local store, and when.
	given map[string]givenAnswer
	// void are the answers that had no effect, by request: none is given twice.
	void map[string][]policy.Digest
	// rejected is why an answer was not even given to the store; told is what was last said about that to the server.
	rejected, told map[string]string
	// heard is up to which number answers have come.
	heard int64
}

type givenAnswer struct {
	digest policy.Digest
	at     time.Time
	// round is the look at the store that was the last before the answer was there; 0 until it is. Only a later look
	// that finds the request open says that the answer had no effect.
	round int
}

func loadQuestions(state string) questions {
	q := questions{sent: map[string]bool{}, taken: map[string]bool{}, refused: map[string]time.Time{},
		given: map[string]givenAnswer{}, void: map[string][]policy.Digest{}, rejected: map[string]string{},
		told: map[string]string{}, heard: link.Cursor(state)}
	for _, id := range link.Sent(state) {
		q.sent[id] = true
	}
	return q
}

// saveSent keeps which questions the server may have.
func (b *Bridge) saveSent() error {
	b.mu.Lock()
	ids := slices.Sorted(maps.Keys(b.questions.sent))
	b.mu.Unlock()
	return link.SaveSent(b.State, ids)
}

// forward sends the server what is open, and tells it what has ended. It returns when to look again.
func (b *Bridge) forward(ctx context.Context) (time.Duration, error) {
	open, err := b.open(ctx)
	if err != nil {
		b.Log("the store cannot be read: " + err.Error())
		return 0, err
	}
	next, err := b.expire(ctx, open)
	if err != nil {
		b.Log("a request that expired cannot be ended: " + err.Error())
		return 0, err
	}
	if err := b.send(ctx, open); err != nil {
		return 0, b.reached(ctx, err)
	}
	if err := b.tellVoid(ctx, open); err != nil {
		return 0, b.reached(ctx, err)
	}
	wait, err := b.tellEnded(ctx, open)
	if err != nil {
		return 0, b.reached(ctx, err)
	}
	return min(next, wait, b.retryIn()), nil
}

// open returns the open requests that are for the team, by id.
func (b *Bridge) open(ctx context.Context) (map[string]approval.Posted, error) {
	b.mu.Lock()
	b.questions.round++
	b.mu.Unlock()
	all, err := b.Store.Open(ctx, "")
	if err != nil {
		return nil, err
	}
	out := map[string]approval.Posted{}
	for _, p := range all {
		if b.ours(p.Request) {
			out[p.Request.ID] = p
		}
	}
	return out, nil
}

// ours reports whether a request is for the team that this machine belongs to now.
func (b *Bridge) ours(r *approval.Request) bool {
	return r.Routing != nil && r.Routing.Gate == b.Machine.Gate && r.Routing.Tenant == b.Machine.Tenant
}

// expire denies what has waited as long as it may, by the clock of this machine, and says when the next one does.
func (b *Bridge) expire(ctx context.Context, open map[string]approval.Posted) (next time.Duration, err error) {
	next = later
	for id, p := range open {
		within := p.Request.Routing.Need.Expires
		if within <= 0 {
			continue
		}
		if left := p.Request.Created.Add(within).Sub(b.Clock()); left > 0 {
			next = min(next, left)
			continue
		}
		d := approval.Decision{Request: id, Fingerprint: p.Request.Fingerprint, Answer: approval.AnswerExpire,
			By: policy.Who{Via: policy.ViaTeam}}
		if err := b.Store.Answer(ctx, d); err != nil && !over(err) {
			return 0, err
		}
		delete(open, id)
	}
	return next, nil
}

// over reports whether a request needs no answer any more.
func over(err error) bool {
	return errors.Is(err, approval.ErrSettled) || errors.Is(err, approval.ErrUnknownRequest)
}

// send sends the questions that the server does not have yet.
func (b *Bridge) send(ctx context.Context, open map[string]approval.Posted) error {
	for most := maxQuestions; ; {
		batch, err := b.nextBatch(open, most)
		if err != nil || len(batch) == 0 {
			return err
		}
		if err := b.saveSent(); err != nil {
			return fmt.Errorf("noting what is sent: %w", err)
		}
		taken, err := b.client.requests(ctx, batch)
		// One question that the server cannot take keeps no other from it.
		if refusedWith(err, http.StatusBadRequest, http.StatusRequestEntityTooLarge) {
			if most > 1 {
				most = 1
				continue
			}
			taken, err = wire.Taken{Refused: map[string]string{"": err.Error()}}, nil
		}
		if b.reached(ctx, err) != nil {
			return err
		}
		b.took(taken, batch)
	}
}

// nextBatch signs some of the questions that the server does not have, the oldest first.
func (b *Bridge) nextBatch(open map[string]approval.Posted, most int) ([]wire.Signed, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var fresh []*approval.Request
	for id, p := range open {
		if !b.questions.taken[id] && !b.Clock().Before(b.questions.refused[id]) {
			fresh = append(fresh, p.Request)
		}
	}
	slices.SortFunc(fresh, func(x, y *approval.Request) int { return x.Created.Compare(y.Created) })
	var out []wire.Signed
	size := 0
	for _, r := range fresh {
		data, err := wire.Encode(r)
		if err != nil {
			return nil, err
		}
		if size += len(data); len(out) > 0 && (size > maxQuestionBytes || len(out) == most) {
			break
		}
		out = append(out, wire.Signed{Request: data, Signature: wire.SignRequest(b.Machine.Private, data)})
		b.questions.sent[r.ID] = true
	}
	return out, nil
}

// took notes what the server said about a batch. What it does not mention it has not taken.
func (b *Bridge) took(taken wire.Taken, batch []wire.Signed) {
	b.say(func(s *link.Status) {
		for _, signed := range batch {
			var r struct{ ID string }
			if json.Unmarshal(signed.Request, &r) != nil {
				continue
			}
			delete(b.questions.refused, r.ID)
			delete(s.Refused, r.ID)
			if slices.Contains(taken.Requests, r.ID) {
				b.questions.taken[r.ID] = true
				continue
			}
			why := cmp.Or(taken.Refused[r.ID], taken.Refused[""], "the server did not take it and did not say why")
			if s.Refused == nil {
				s.Refused = map[string]string{}
			}
			b.questions.refused[r.ID], s.Refused[r.ID] = b.Clock().Add(refusedFor), why
		}
		s.Waiting = len(b.questions.taken)
	})
}

// retryIn is when the next question is sent again that the server refused.
func (b *Bridge) retryIn() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	next := later
	for _, at := range b.questions.refused {
		next = min(next, max(at.Sub(b.Clock()), 10*time.Millisecond))
	}
	return next
}

// tellVoid tells the server which of its answers had no effect, and why: their requests wait on.
func (b *Bridge) tellVoid(ctx context.Context, open map[string]approval.Posted) error {
	var out []wire.Ended
	b.mu.Lock()
	for id, p := range open {
		given, ok := b.questions.given[id]
		if ok && given.round > 0 && given.round < b.questions.round { // it is open again
			b.questions.void[id] = append(b.questions.void[id], given.digest)
			delete(b.questions.given, id)
			delete(b.questions.told, id)
			delete(b.questions.rejected, id)
		}
		why := cmp.Or(b.questions.rejected[id], p.Problem)
		if why != "" && b.questions.told[id] != why && b.questions.taken[id] {
			out = append(out, wire.Ended{Request: id, State: policy.StatePending, Why: why, Heard: b.questions.heard})
		}
	}
	b.mu.Unlock()
	if len(out) == 0 {
		return nil
	}
	err := b.client.ended(ctx, out)
	var refused *RefusedError
	if err != nil && !errors.As(err, &refused) { // a server that does not want to know is told once
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range out {
		b.questions.told[e.Request] = e.Why
	}
	return nil
}

// tellEnded tells the server which of its questions need no answer any more, and says when the next one is due.
func (b *Bridge) tellEnded(ctx context.Context, open map[string]approval.Posted) (next time.Duration, err error) {
	next = later
	var gone []string
	b.mu.Lock()
	for id := range b.questions.sent {
		if _, ok := open[id]; ok {
			continue
		}
		if given, ok := b.questions.given[id]; ok {
			if left := given.at.Add(settledAfter).Sub(b.Clock()); left > 0 {
				next = min(next, left)
				continue
			}
		}
		gone = append(gone, id)
	}
	b.mu.Unlock()
	var out []wire.Ended
	for _, id := range gone {
		e := wire.Ended{Request: id, State: policy.StateDismissed} // whoever asked is gone
		p, err := b.Store.Posted(ctx, id)
		switch {
		case errors.Is(err, approval.ErrUnknownRequest):
		case err != nil:
			return 0, err
		case p.Settled != nil:
			e.State, e.By = p.Settled.State, p.Settled.By
		}
		out = append(out, e)
	}
	if len(out) == 0 {
		return next, nil
	}
	if err := b.client.ended(ctx, out); err != nil {
		return next, err
	}
	b.say(func(s *link.Status) {
		q := &b.questions
		for _, e := range out {
			delete(q.sent, e.Request)
			delete(q.taken, e.Request)
			delete(q.refused, e.Request)
			delete(q.given, e.Request)
			delete(q.void, e.Request)
			delete(q.told, e.Request)
			delete(q.rejected, e.Request)
			delete(s.Refused, e.Request)
		}
		s.Waiting = len(q.taken)
	})
	return next, b.saveSent()
}
