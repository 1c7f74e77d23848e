package inbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/sessions"
	"github.com/assent-dev/assent/terminal"
)

// A Store is where processes meet.
type Store interface {
	approval.RequestStore
	sessions.Store
	approval.RuleStore
	approval.GrantStore
	Runs(ctx context.Context) ([]sessions.SavedRun, error)
	// TakeBack opens a request again whose answer nobody has taken yet.
	TakeBack(ctx context.Context, id string, answer policy.Digest) error
}

// Options say what an inbox works with.
type Options struct {
	// Owner is the process that has the inbox: when it is gone, so is the inbox.
	Owner sessions.Process
	// Sweep is how often it is looked whether those who ask are still there; zero means
	// every second.
	Sweep time.Duration
}

// An Inbox is what waits in a store. It is safe for concurrent use. Make one with [Open],
// and close it.
type Inbox struct {
	store   Store
	session string
	gate    *approval.Gate // knows what a lasting answer settles
	stop    context.CancelFunc
	swept   chan struct{} // closed when nobody sweeps any more

	mu       sync.Mutex
	err      error
	waiting  []entry
	ended    []approval.Outcome // the last ones
	mine     map[string]bool    // requests that were answered here and have not been seen to end
	answered int                // here
	others   int                // ended in another way
}

// An entry is a request that waits. As long as it does, it is the same value.
type entry struct {
	request *approval.Request
	problem string
}

var _ terminal.Inbox = (*Inbox)(nil)

// Open opens an inbox: from now on others know that somebody is there.
func Open(ctx context.Context, store Store, o Options) (*Inbox, error) {
	gate, err := approval.New(approval.Config{
		Preparer: nothing{}, Clock: time.Now, NewID: rand.Text, Rules: store, Grants: store, Requests: store,
	})
	if err != nil {
		return nil, err
	}
	in := &Inbox{store: store, session: rand.Text(), gate: gate, swept: make(chan struct{}), mine: map[string]bool{}}
	if err := in.begin(ctx, o.Owner); err != nil {
		gate.Close()
		return nil, err
	}
	ctx, in.stop = context.WithCancel(context.WithoutCancel(ctx))
	go in.sweep(ctx, o.Sweep)
	return in, nil
}

func (in *Inbox) begin(ctx context.Context, owner sessions.Process) error {
	if _, err := in.store.CleanSessions(ctx); err != nil { // of inboxes and runs that were killed
		return err
	}
	return in.store.BeginSession(ctx, sessions.Session{ID: in.session, Kind: sessions.KindInbox, Owner: owner})
}

// Close tells others that nobody is there any more. It answers nothing.
func (in *Inbox) Close() error {
	in.stop()
	<-in.swept
	in.gate.Close()
	return in.store.EndSession(context.Background(), in.session)
}

// Err implements [terminal.Inbox].
func (in *Inbox) Err() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.err
}

// Quiet implements [terminal.Inbox].
func (in *Inbox) Quiet() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	parts := []string{"Nothing waits", fmt.Sprintf("%d answered", in.answered)}
	if in.others > 0 {
		parts = append(parts, fmt.Sprintf("%d elsewhere", in.others))
	}
	return append(parts, "Ctrl-C leaves")
}

// Answered returns how many requests were answered here.
func (in *Inbox) Answered() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.answered
}

// Watch implements [terminal.Inbox].
func (in *Inbox) Watch() (changed <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	return c, in.store.NotifyRequests(func() {
		select {
		case c <- struct{}{}:
		default:
		}
	})
}

// Covers implements [terminal.Coverer].
func (in *Inbox) Covers(ctx context.Context, r *approval.Request, d approval.Decision) []*approval.Request {
	return in.gate.Covers(ctx, r, d)
}

// Resolve implements [terminal.Questions]. Whoever asked takes the answers.
func (in *Inbox) Resolve(ctx context.Context, decisions ...approval.Decision) error {
	var errs []error
	for _, d := range decisions {
		errs = append(errs, in.answer(ctx, d))
	}
	return errors.Join(errs...)
}

// answer answers one request. It counts as ours before the answer is there: whoever asked
// may take it, and the request be gone, before we hear that it was given.
func (in *Inbox) answer(ctx context.Context, d approval.Decision) error {
	in.mu.Lock()
	in.mine[d.Request] = true
	in.mu.Unlock()
	err := in.store.Answer(ctx, d)
	in.mu.Lock()
	defer in.mu.Unlock()
	if err == nil {
		in.answered++
		return nil
	}
	if !in.mine[d.Request] { // it ended meanwhile, by somebody else
		in.others++
	}
	delete(in.mine, d.Request)
	return err
}

// Session is that of the inbox: while it is alive, somebody is there.
func (in *Inbox) Session() string { return in.session }

// Posted returns one request, open or not.
func (in *Inbox) Posted(ctx context.Context, id string) (approval.Posted, error) {
	return in.store.Posted(ctx, id)
}

// TakeBack takes an answer back that was given here, as long as whoever asked has not taken it.
func (in *Inbox) TakeBack(ctx context.Context, id string, answer policy.Digest) error {
	err := in.store.TakeBack(ctx, id, answer)
	if err == nil {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.answered--
		delete(in.mine, id)
	}
	return err
}

// nothing prepares no call: an inbox runs none.
type nothing struct{}

// Prepare implements [approval.Preparer].
func (nothing) Prepare(context.Context, policy.Call) (approval.Proposal, error) {
	return approval.Proposal{}, errors.New("an inbox runs nothing")
}

// About implements [terminal.Inbox]. What cannot be found out is left out: the request says
// all that an answer needs.
func (in *Inbox) About(ctx context.Context, r *approval.Request) terminal.About {
	return terminal.About{From: in.from(ctx, r), Problem: in.Problem(r)}
}

// Problem says why an earlier answer to a request that waits had no effect.
func (in *Inbox) Problem(r *approval.Request) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, e := range in.waiting {
		if e.request == r {
			return e.problem
		}
	}
	return ""
}

// from says who asks: the agent, its folder and branch, the session, and since when.
func (in *Inbox) from(ctx context.Context, r *approval.Request) string {
	out := cmp.Or(r.Origin.Agent, "an unknown agent")
	if r.Origin.Folder != "" {
		out += " in " + r.Origin.Folder
	}
	if r.Origin.Branch != "" {
		out += " on branch " + r.Origin.Branch
	}
	return out + fmt.Sprintf(" (%s, since %s)", in.asking(ctx, r), r.Created.Local().Format(time.TimeOnly))
}

// asking says which session asks, and how.
func (in *Inbox) asking(ctx context.Context, r *approval.Request) string {
	named := "session " + short(r.Call.Session)
	all, err := in.store.Sessions(ctx)
	i := slices.IndexFunc(all, func(s sessions.Session) bool { return s.ID == r.Call.Session })
	if err != nil || i < 0 {
		return named
	}
	switch s := all[i]; {
	case s.Kept:
		return in.putAside(ctx, r.Call.Session)
	case s.Kind == sessions.KindRun || s.Kind == sessions.KindChat:
		return fmt.Sprintf("%s, process %d, %s", s.Kind, s.Owner.ID, named)
	default:
		return fmt.Sprintf("%s, %s", s.Kind, named)
	}
}

// putAside names a run that takes its answers when it is resumed.
func (in *Inbox) putAside(ctx context.Context, session string) string {
	runs, err := in.store.Runs(ctx)
	i := slices.IndexFunc(runs, func(r sessions.SavedRun) bool { return r.Session == session })
	if err != nil || i < 0 {
		return "a run that defers its questions"
	}
	return fmt.Sprintf("saved run %s: 'assent resume %s' continues it", runs[i].ID, runs[i].ID)
}

// short is the beginning of an id, enough to tell it from others.
func short(id string) string {
	const enough = 8
	if runes := []rune(id); len(runes) > enough {
		return string(runes[:enough]) + "…"
	}
	return id
}
