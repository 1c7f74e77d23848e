package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/link"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/policy"
)

// maxVoid is how many answers to one request may have no effect. An honest server is far from it.
const maxVoid = 20

// quick is how soon a server that has nothing new may say so.
const quick = time.Second

// listen waits for news once. What comes is given to the local store before the server hears that it came.
func (b *Bridge) listen(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	after := link.Cursor(b.State)
	b.mu.Lock()
	serial := b.serial
	b.mu.Unlock()
	news, err := b.client.wait(ctx, after, serial)
	if b.reached(ctx, err) != nil {
		return 0, err
	}
	b.heard(news.Serial)
	b.mu.Lock()
	b.questions.heard = news.Cursor
	b.mu.Unlock()
	useful := news.Serial != serial
	for _, a := range news.Answers {
		took, err := b.take(ctx, a)
		if err != nil {
			b.Log(fmt.Sprintf("request %q: the answer cannot be kept: %v", a.Request, err))
			return 0, err // it comes again
		}
		useful = useful || took
	}
	if news.Cursor != after {
		if err := link.SaveCursor(b.State, news.Cursor); err != nil {
			b.Log("the cursor cannot be saved: " + err.Error())
			return 0, err
		}
	}
	// A server that talks without end and says nothing is not asked without end.
	if !useful && time.Since(began) < quick {
		return quick, nil
	}
	return soon, nil
}

// take gives an answer to the local store, and reports whether it was taken there. The error is one of the store;
// an answer that does not count is no error, and the request waits on.
func (b *Bridge) take(ctx context.Context, a wire.Answer) (bool, error) {
	p, err := b.Store.Posted(ctx, a.Request)
	if errors.Is(err, approval.ErrUnknownRequest) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if p.Settled != nil || !b.ours(p.Request) {
		return false, nil // it came before, or nobody asked the team
	}
	d, err := b.decision(ctx, p.Request, a)
	if err == nil {
		err = b.notVoid(d)
	}
	if err != nil {
		b.refuse(a.Request, err)
		return false, nil
	}
	// Noted before and after: nobody is to be told meanwhile that it ended otherwise.
	b.noteGiven(d, false)
	err = b.Store.Answer(ctx, d)
	if err == nil {
		b.noteGiven(d, true)
		poke(b.wakeQuestions)
		return true, nil
	}
	b.mu.Lock()
	delete(b.questions.given, a.Request)
	b.mu.Unlock()
	var invalid *approval.DecisionError
	switch {
	case over(err):
		return false, nil
	case errors.As(err, &invalid):
		b.refuse(a.Request, err)
		return false, nil
	}
	return false, err
}

func (b *Bridge) noteGiven(d approval.Decision, there bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := givenAnswer{digest: d.Digest(), at: b.Clock()}
	if there {
		g.round = b.questions.round
	}
	b.questions.given[d.Request] = g
}

// refuse notes that an answer does not count, and has the server told.
func (b *Bridge) refuse(request string, why error) {
	b.Log(fmt.Sprintf("request %q: an answer of the server does not count: %v", request, why))
	b.mu.Lock()
	b.questions.rejected[request] = why.Error()
	delete(b.questions.told, request) // the server has asked again since then
	b.mu.Unlock()
	poke(b.wakeQuestions)
}

// notVoid refuses an answer that had no effect before.
func (b *Bridge) notVoid(d approval.Decision) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	void := b.questions.void[d.Request]
	switch {
	case slices.Contains(void, d.Digest()):
		return errors.New("the same answer had no effect before")
	case len(void) >= maxVoid:
		return fmt.Errorf("%d answers to it had no effect", len(void))
	}
	return nil
}

// decision makes of an answer what the local store takes: what the votes say, and not what the server says that
// they say. It counts them as the gate will: what cannot count there need not come there.
func (b *Bridge) decision(ctx context.Context, r *approval.Request, a wire.Answer) (approval.Decision, error) {
	d := approval.Decision{Request: r.ID, Fingerprint: r.Fingerprint}
	d.By.Via = policy.ViaTeam
	switch a.State {
	case policy.StateExpired:
		d.Answer = approval.AnswerExpire
		return d, nil
	case policy.StateDismissed:
		d.Answer = approval.AnswerDismiss
		return d, nil
	case policy.StateApproved, policy.StateAnswered, policy.StateDenied:
	default:
		return d, fmt.Errorf("%q is not how a request ends", string(a.State))
	}
	people, err := b.people()
	if err != nil {
		return d, err
	}
	view, err := r.ViewDigest(ctx)
	if err != nil {
		return d, err
	}
	tally := r.Count(r.Routing.Need, approval.Live(a.Votes, b.Clock()), people, view, b.Clock().Sub(r.Created))
	if a.State == policy.StateDenied && tally.State != policy.StateDenied {
		d.Answer = approval.AnswerDeny // by somebody who is signed in; what nobody signed does nothing else
		return d, nil
	}
	if tally.State != a.State {
		return d, fmt.Errorf("the server says %s, and the votes say %s", a.State, tally)
	}
	if a.Decision == nil {
		return r.Voted(tally, nil, "")
	}
	return r.Voted(tally, a.Decision.Arguments, a.Decision.Result)
}
