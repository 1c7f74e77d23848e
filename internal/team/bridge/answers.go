package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/machine"
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
	after := b.cursor()
	news, err := b.client.wait(ctx, after)
	if b.reached(ctx, err) != nil {
		return 0, err
	}
	b.noteSerial(news.Serial)
	useful := false
	for _, a := range news.Answers {
		took, err := b.take(ctx, a)
		if err != nil {
			b.Log(fmt.Sprintf("request %q: the answer cannot be kept: %v", a.Request, err))
			return 0, err // it comes again
		}
		useful = useful || took
	}
	if news.Cursor != after {
		if err := machine.WriteFile(b.State, cursorName, fmt.Append(nil, news.Cursor)); err != nil {
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

// cursor is up to where the news of the server were taken; 0 if that is not known.
func (b *Bridge) cursor() (after int64) {
	data, err := machine.ReadFile(b.State, cursorName)
	if err != nil || json.Unmarshal(data, &after) != nil || after < 0 {
		return 0
	}
	return after
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
	// Noted first: the gate may refuse the answer before Answer returns.
	b.mu.Lock()
	b.questions.given[a.Request] = givenAnswer{d.Digest(), b.Clock()}
	b.mu.Unlock()
	err = b.Store.Answer(ctx, d)
	if err == nil {
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

// refuse notes that an answer does not count, and has the server told.
func (b *Bridge) refuse(request string, why error) {
	b.Log(fmt.Sprintf("request %q: an answer of the server does not count: %v", request, why))
	b.mu.Lock()
	b.questions.rejected[request] = why.Error()
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
	people := b.Team.People()
	if people == nil {
		return d, errors.New("this machine has no policy of the team that says who decides")
	}
	view, err := r.ViewDigest(ctx)
	if err != nil {
		return d, err
	}
	tally := r.Count(r.Routing.Need, a.Votes, people, view, b.Clock().Sub(r.Created))
	if tally.State != a.State {
		return d, fmt.Errorf("the votes say %s, not %s%s", tally.State, a.State, voided(tally.Void))
	}
	if a.State == policy.StateDenied {
		d.Answer = approval.AnswerDeny
	} else {
		if a.Decision == nil {
			return d, errors.New("it does not say what was agreed to")
		}
		d = *a.Decision
		if d.Request != r.ID || d.Proof != nil || len(d.Votes) > 0 {
			return d, errors.New("what was agreed to is not about this request")
		}
		d.Call, d.At = "", time.Time{}
		d.By = policy.Who{Via: policy.ViaTeam}
	}
	d.Votes, d.By.User, d.Note = tally.Votes, names(tally.Counted), notes(tally.Votes)
	return d, nil
}

func voided(why []string) string {
	if len(why) == 0 {
		return ""
	}
	return ": " + strings.Join(why, "; ")
}

func names(people []approval.Person) string {
	out := make([]string, len(people))
	for i, p := range people {
		out[i] = p.Name
	}
	return strings.Join(out, ", ")
}

// notes are what the voters wrote.
func notes(votes []approval.Vote) string {
	var out []string
	for _, v := range votes {
		if v.Note != "" {
			out = append(out, v.Note)
		}
	}
	return strings.Join(out, "\n")
}
