package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/assent-dev/assent/policy"
)

// A Settlement is how a request ended.
type Settlement struct {
	State policy.State `json:"state"`
	By    policy.Who   `json:"by,omitzero"`
	At    time.Time    `json:"at,omitzero"`
	// Decision is the answer, if somebody gave one. A rule, a grant and the end
	// of the run settle a request without.
	Decision *Decision `json:"decision,omitempty"`
	// Partial says that the decision is kept as a record only: something in it
	// was a secret, and it can no longer take effect.
	Partial bool `json:"partial,omitempty"`
}

// Settled returns how a request ends that is answered so.
func (d Decision) Settled() Settlement {
	if d.By.Via == "" {
		d.By.Via = policy.ViaProgram
	}
	return Settlement{State: d.state(), By: d.By, At: d.At, Decision: &d}
}

// Digest identifies the answer. When it was given does not count: the gate that
// takes an answer from a store may note another time.
func (d Decision) Digest() policy.Digest {
	d.At = time.Time{}
	if d.By.Via == "" {
		d.By.Via = policy.ViaProgram
	}
	data, err := json.Marshal(d)
	if err != nil {
		return policy.Digest{} // only for arguments that are no JSON, which no gate takes
	}
	return policy.DigestOf(data)
}

// A SettledError reports an answer that came too late, and who was faster. It
// matches [ErrSettled].
type SettledError struct {
	Request string
	Settlement
}

func (e *SettledError) Error() string {
	return fmt.Sprintf("request %q: %v: %s by %s", e.Request, ErrSettled, e.State, e.By)
}

// Is makes the error match [ErrSettled].
func (e *SettledError) Is(target error) bool { return target == ErrSettled }

// A Posted is a request as every process sees it.
type Posted struct {
	// Request has its view as long as it is open.
	Request *Request
	// Settled says how the request was answered; nil while it is open.
	Settled *Settlement
	// Problem says why an answer that was given had no effect, if one had none.
	Problem string
}

// A Settler makes answers final where every process sees them. Of several
// settlements of one request one wins, in whatever process.
type Settler interface {
	// Settle makes s the end of r, posted or not. If r has ended in another way
	// the error is a [*SettledError]; if in this very way, there is none.
	Settle(ctx context.Context, r *Request, s Settlement) error
	// Reopen takes back an answer that could not take effect, and says why.
	Reopen(ctx context.Context, r *Request, why string) error
}

// ErrTooManyPending says that too many requests of a session wait already.
var ErrTooManyPending = fmt.Errorf("%d requests of this session wait for an answer already", MaxPending)

// A RequestStore is where requests wait for an answer from any process. It is
// safe for concurrent use, also by other processes.
type RequestStore interface {
	Settler
	// Post makes requests visible. One that was posted before stays as it is. Of
	// a session at most [MaxPending] wait; more are [ErrTooManyPending], and none
	// of these requests is posted.
	Post(ctx context.Context, requests ...*Request) error
	// Answer gives a request its answer, which whoever posted it then takes. It
	// is checked with [Request.Check]; if the request has ended the error is a
	// [*SettledError], if nobody posted it [ErrUnknownRequest].
	Answer(ctx context.Context, d Decision) error
	// TakeBack opens a request again whose answer, with this digest, nobody has taken yet; from then on that
	// answer settles nothing, whoever has read it. If it has been taken, or the request has ended in
	// another way, the error is a [*SettledError].
	TakeBack(ctx context.Context, id string, answer policy.Digest) error
	// Posted returns one request, open or not, or [ErrUnknownRequest].
	Posted(ctx context.Context, id string) (Posted, error)
	// Open returns the open requests, the oldest first; of one session, or of
	// all with "". One that nobody can wait for any more, because its session or
	// process is gone, is not open.
	Open(ctx context.Context, session string) ([]Posted, error)
	// Await returns as soon as one of the requests is not open, with that one.
	Await(ctx context.Context, ids ...string) (Posted, error)
	// NotifyRequests calls changed after requests were posted, answered or
	// settled, by whatever process, until stop is called.
	NotifyRequests(changed func()) (stop func())
}

// An OpenFilter says which open requests are wanted.
type OpenFilter struct {
	Session string // of this session; "" for all
	After   string // what the page before returned; "" for the first
	Limit   int    // at most so many; 0 for as many as the store likes to return at once
}

// An OpenPager is a [RequestStore] that returns open requests in pages: where many machines ask, there may be more than
// anybody wants to read at once.
type OpenPager interface {
	RequestStore
	// OpenPage is [RequestStore.Open] for some. Next is for the After of the next page; "" says that there is none.
	OpenPage(ctx context.Context, f OpenFilter) (page []Posted, next string, err error)
}

// A RequestWatcher is a [RequestStore] that says which requests have changed, so that not everybody looks at everything.
type RequestWatcher interface {
	RequestStore
	// WatchRequests is [RequestStore.NotifyRequests] with the ids of the requests; with none, any may have changed.
	WatchRequests(changed func(ids []string)) (stop func())
}

// Check reports why the request does not take the decision.
func (r *Request) Check(d Decision) error {
	if d.Request != r.ID {
		return fmt.Errorf("%w: the answer is for request %q", ErrWrongCall, d.Request)
	}
	if d.Arguments == nil && d.Fingerprint != r.Fingerprint {
		return ErrWrongCall
	}
	return d.validate(r)
}

// settles returns those of the requests that would no longer wait if the policy
// were asked: what a rule or a grant would settle once it is saved. The grants
// must be those of the requests' session.
func settles(p policy.Policy, requests []*Request, now time.Time) (out []*Request) {
	p.Mode = policy.ModeAsk
	for _, r := range requests {
		call := r.Call
		call.Definition = r.Definition
		q := policy.Question{Call: &call, Definition: r.Definition, SharesName: r.SharesName, Acts: r.Acts, Now: now}
		if p.Judge(q).State != policy.StatePending {
			out = append(out, r)
		}
	}
	return out
}

// coversElsewhere returns what [Gate.Covers] finds among the requests of other
// processes. Those that cannot be read are not named: it is for show.
func (g *Gate) coversElsewhere(
	ctx context.Context, r *Request, known []*Request, rules []policy.Rule, grants []policy.Grant,
) (out []*Request) {
	store, ok := g.cfg.Requests.(RequestStore)
	if !ok {
		return nil
	}
	posted, err := store.Open(ctx, "")
	if err != nil {
		return nil
	}
	seen := map[string]bool{r.ID: true}
	for _, k := range known {
		seen[k.ID] = true
	}
	sessions := map[string][]*Request{}
	for _, p := range posted {
		if s := p.Request.Call.Session; !seen[p.Request.ID] {
			sessions[s] = append(sessions[s], p.Request)
		}
	}
	for session, requests := range sessions {
		if inForce, err := g.policyWith(ctx, session, rules, grants); err == nil {
			out = append(out, settles(inForce, requests, g.cfg.Clock())...)
		}
	}
	return out
}

// Queue returns an approver that posts its questions to a store and waits for
// answers from other processes. The gate that asks it needs the same store as
// its [Config.Requests]: then whoever answers in this process, beside it under
// [First], and whoever answers elsewhere cannot both win.
func Queue(store RequestStore) BatchApprover { return queue{store} }

type queue struct{ store RequestStore }

// Collect hands the answers that a store has to the batch, without waiting for
// more: what [Queue] does for a program that ended meanwhile. An answer that has
// no effect is reported, and its request waits again.
func Collect(ctx context.Context, store RequestStore, b *Batch) error {
	var errs []error
	for _, r := range b.Pending() {
		p, err := store.Posted(ctx, r.ID)
		switch {
		case errors.Is(err, ErrUnknownRequest):
		case err != nil:
			errs = append(errs, err)
		case p.Settled != nil:
			errs = append(errs, queue{store}.take(ctx, b, p))
		}
	}
	return errors.Join(errs...)
}

// Approve posts the request and waits.
func (q queue) Approve(ctx context.Context, r *Request) (Decision, error) {
	if err := q.post(ctx, r); err != nil {
		return Decision{}, err
	}
	p, err := q.store.Await(ctx, r.ID)
	if ctx.Err() != nil {
		var answered *WithdrawnError
		if !errors.As(context.Cause(ctx), &answered) { // else the gate settles it with that answer
			q.withdraw(ctx, r, Settlement{State: leftOpen(ctx)})
		}
		return Decision{}, context.Cause(ctx)
	}
	if err != nil {
		return Decision{}, err
	}
	return p.answer()
}

// ApproveBatch posts what is pending and takes the answers as they come, until
// nothing is pending. What it leaves open is withdrawn.
func (q queue) ApproveBatch(ctx context.Context, b *Batch) error {
	posted := map[string]*Request{}
	defer func() {
		for _, r := range posted {
			q.withdraw(ctx, r, b.settlement(ctx, r))
		}
	}()
	for {
		pending := b.Pending()
		if len(pending) == 0 {
			return nil
		}
		if err := q.postNew(ctx, b, posted, pending); err != nil {
			return err
		}
		p, err := q.next(ctx, pending)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, context.Canceled): // somebody answered in this process
		case err != nil:
			return err
		default:
			if err := q.take(ctx, b, p); err != nil {
				return err
			}
		}
	}
}

// postNew posts what is not posted yet, and withdraws what no longer waits.
func (q queue) postNew(ctx context.Context, b *Batch, posted map[string]*Request, pending []*Request) error {
	waits := make(map[string]bool, len(pending))
	var fresh []*Request
	for _, r := range pending {
		waits[r.ID] = true
		if posted[r.ID] == nil {
			fresh = append(fresh, r)
		}
	}
	for id, r := range posted {
		if !waits[id] {
			q.withdraw(ctx, r, b.settlement(ctx, r))
			delete(posted, id)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	for _, r := range fresh {
		posted[r.ID] = r
	}
	return q.post(ctx, fresh...)
}

// post posts requests that can be shown. Nobody may agree to what cannot.
func (q queue) post(ctx context.Context, requests ...*Request) error {
	posted := make([]*Request, len(requests))
	for i, r := range requests {
		if _, err := r.View(ctx); err != nil {
			return fmt.Errorf("request %q cannot be shown: %w", r.ID, err)
		}
		posted[i] = q.awaited(ctx, r)
	}
	return q.store.Post(ctx, posted...)
}

// next waits for an answer to one of the requests. The error is
// [context.Canceled] if one of them needs none any more.
func (q queue) next(ctx context.Context, pending []*Request) (Posted, error) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	ids := make([]string, len(pending))
	for i, r := range pending {
		ids[i] = r.ID
		go func() {
			select {
			case <-r.Done():
				cancel()
			case <-waiting.Done():
			}
		}()
	}
	p, err := q.store.Await(waiting, ids...)
	if err == nil {
		return p, nil
	}
	if waiting.Err() != nil {
		err = context.Canceled
	}
	return Posted{}, err
}

// take hands an answer to the batch. One that has no effect there is taken back,
// and the question stays.
func (q queue) take(ctx context.Context, b *Batch, p Posted) error {
	// Whoever answers in this process settles the request first, and takes that back
	// if the answer has no effect.
	b.quiet(p.Request.ID)
	p, err := q.store.Posted(ctx, p.Request.ID)
	if err != nil || p.Settled == nil {
		return err // without one it waits again
	}
	d, err := p.answer()
	if err != nil {
		return err
	}
	err = b.Resolve(ctx, d)
	if err == nil || errors.Is(err, ErrSettled) || errors.Is(err, ErrWrongCall) {
		return nil
	}
	for _, r := range b.Pending() {
		if r.ID == d.Request {
			return q.reopen(ctx, r, d, err)
		}
	}
	return nil
}

// reopen takes back an answer that had no effect. If the gate has done so already, what
// stands there now is the next answer, and stays.
func (q queue) reopen(ctx context.Context, r *Request, d Decision, why error) error {
	p, err := q.store.Posted(ctx, r.ID)
	if err != nil || p.Settled == nil || p.Settled.Decision == nil || p.Settled.Decision.Digest() != d.Digest() {
		return err
	}
	return q.store.Reopen(ctx, r, why.Error())
}

// withdraw ends a question that nobody here waits for any more. If it has been
// answered meanwhile, it stays so.
func (q queue) withdraw(ctx context.Context, r *Request, s Settlement) {
	if err := q.store.Settle(context.WithoutCancel(ctx), r, s); err != nil {
		return // the question stays until its session ends, and no answer to it has an effect
	}
}

// answer returns the decision of a request that is no longer open, if it has a
// whole one.
func (p *Posted) answer() (Decision, error) {
	switch {
	case p.Settled == nil:
		return Decision{}, fmt.Errorf("request %q: %w", p.Request.ID, ErrOpen)
	case p.Settled.Decision == nil || p.Settled.Partial:
		return Decision{}, &WithdrawnError{Request: p.Request.ID, State: p.Settled.State, By: p.Settled.By}
	}
	return *p.Settled.Decision, nil
}

// leftOpen says how a question ends that nobody has answered.
func leftOpen(ctx context.Context) policy.State {
	if errors.Is(context.Cause(ctx), errTimedOut) {
		return policy.StateExpired
	}
	return policy.StateDismissed
}

// settlement says how a request that was posted has ended.
func (b *Batch) settlement(ctx context.Context, r *Request) Settlement {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.entries {
		switch o := &e.outcome; {
		case o.Request != r.ID || o.State == policy.StatePending:
		case o.Decision != nil && o.Decision.Request == r.ID:
			return o.Decision.Settled()
		default:
			return Settlement{State: o.State, By: policy.Who{Via: o.via()}}
		}
	}
	return Settlement{State: leftOpen(ctx)} // or asked again as another
}

// win makes the settlement of a request final for every process, or says with a
// [*SettledError] who was faster.
func (g *Gate) win(ctx context.Context, r *Request, s Settlement) error {
	if g.cfg.Requests == nil {
		return nil
	}
	if s.At.IsZero() {
		s.At = g.cfg.Clock()
	}
	return safely("settling the request", func() error { return g.cfg.Requests.Settle(ctx, r, s) })
}

// takeBack opens a request again whose answer could not take effect. If that
// fails the answer stands where others see it, and nothing runs here.
func (g *Gate) takeBack(ctx context.Context, r *Request, why error) error {
	if g.cfg.Requests == nil {
		return why
	}
	err := safely("reopening the request", func() error {
		return g.cfg.Requests.Reopen(context.WithoutCancel(ctx), r, why.Error())
	})
	if err != nil {
		return fmt.Errorf("%w; it could not be asked again: %w", why, err)
	}
	return why
}

// expired drafts what an entry becomes that nobody answered in time.
func (b *Batch) expired(ctx context.Context, e *entry) draft {
	return b.gate.refuse(ctx, e.outcome, policy.StateExpired, e.request.unanswered())
}

// unanswered says that the answer did not come in time. Votes that were too few do not reach a gate, so that it cannot say
// how many people were missing.
func (r *Request) unanswered() string {
	if r.TeamDecides() {
		return fmt.Sprintf("too few people answered in time; it needed %s", r.Routing.Need)
	}
	return errTimedOut.Error()
}

// lose drafts what an entry becomes whose request was settled elsewhere: the
// answer of whoever won holds here too. Without an answer nothing runs here.
func (b *Batch) lose(ctx context.Context, e *entry, lost *SettledError) draft {
	if d := lost.Decision; d != nil && !lost.Partial && e.request.Check(*d) == nil && b.gate.proven(ctx, e.request, d) == nil {
		voted, err := b.decided(ctx, e, d)
		if errors.Is(err, errExpired) {
			return b.expired(ctx, e)
		}
		if err == nil {
			if next, err := b.effect(ctx, e, d.as(voted), voted); err == nil {
				return next
			}
		}
	}
	if lost.State == policy.StateExpired {
		return b.expired(ctx, e)
	}
	return b.gate.refuse(ctx, e.outcome, policy.StateDismissed, fmt.Sprintf("it was %s elsewhere by %s", lost.State, lost.By))
}
