package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/user"
	"strings"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/crew"
	"github.com/assent-dev/assent/internal/keypress"
	"github.com/assent-dev/assent/internal/notify"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/internal/term"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/tool"
)

// A desk is what the gates of a run share: the store, the session, who is asked, and where
// it is shown what goes on.
type desk struct {
	store    *store.Store
	session  string
	mode     approval.Mode
	approver approval.Approver
	ties     crew.Ties
	status   *term.Status // nil where it cannot be drawn
	shown    *progress
	limit    present.Limit // how much of a view is shown at first
	off      string        // how asking is turned on again, if the master switch is off
	kept     bool          // the session goes on after this process
	sandbox  *confinement  // what holds calls; nil if that is not known

	mu    sync.Mutex
	gates map[string]*tool.Gate // by chain of workers
}

// A deskOrder says what a desk is for.
type deskOrder struct {
	state string
	kind  approval.SessionKind
	// session is that of a run that goes on; empty begins a new one. With keeps it
	// outlives this process.
	session string
	keeps   bool
	mode    approval.Mode
	sandbox *confinement
	// timeout turns silence into a denial, if it is not 0.
	timeout time.Duration
	// asks makes the one who is asked, once there is something to show; nil means that
	// nobody is.
	asks func(*desk) approval.Approver
}

// openDesk opens the store of a state folder and begins a session in it.
func openDesk(ctx context.Context, order deskOrder) (*desk, error) {
	user, err := userConfig()
	if err != nil {
		return nil, err
	}
	s, err := openStore(ctx, order.state)
	if err != nil {
		return nil, err
	}
	d := &desk{limit: viewLimit(user), store: s, session: order.session, mode: order.mode, sandbox: order.sandbox, status: term.NewStatus(os.Stderr, nil), gates: map[string]*tool.Gate{}}
	if d.session == "" {
		d.session = rand.Text()
	}
	d.shown = &progress{next: s, status: d.status}
	if _, err := s.CleanSessions(ctx); err != nil { // of runs that were killed
		return nil, errors.Join(err, s.Close())
	}
	if err := tidyLog(ctx, s, user.Audit); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	err = s.BeginSession(ctx, approval.Session{ID: d.session, Kind: order.kind, Owner: store.ThisProcess(), Kept: order.keeps})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := d.switches(ctx, user); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if order.asks != nil {
		d.approver = order.asks(d)
	}
	if d.approver != nil {
		d.approver = d.ties.Approver(limited(notified(d.approver, user), order.timeout))
	}
	return d, nil
}

// switches looks at the master switch: off, what would be asked runs. That of the store the
// gates look at themselves, for every call.
func (d *desk) switches(ctx context.Context, user *config.User) (err error) {
	if d.mode != approval.ModeAsk {
		return nil
	}
	d.mode = user.Switched(d.mode)
	d.off, err = approvalsOff(ctx, d.store)
	return err
}

// gate puts a gate in front of the tools of one worker. All gates of a desk ask the same
// people, keep grants in the same session and records in the same log.
func (d *desk) gate(chain []string, policy *approval.RuleSet, tools []tool.Tool) (*tool.Gate, error) {
	g, err := tool.Guard(approval.Config{
		Session: d.session, Mode: d.mode, Sandbox: d.sandbox.words(), Approver: d.approver, Policy: policy, Recorder: d.ties.Recorder(d.shown),
		Rules: d.store, Grants: d.store, Requests: d.store, Claims: d.store,
	}, tools...)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gates[chainKey(chain)] = g
	return g, nil
}

func chainKey(chain []string) string { return strings.Join(chain, "\x00") }

// Covers implements [term.Coverer]: the gate of who asks knows.
func (d *desk) Covers(ctx context.Context, r *approval.Request, answer approval.Decision) []*approval.Request {
	d.mu.Lock()
	g := d.gates[chainKey(r.Call.Workers)]
	d.mu.Unlock()
	if g == nil {
		return nil
	}
	return g.Covers(ctx, r, answer)
}

// denied tells lists and searches which files are denied, by a rule or for this session.
func (d *desk) denied(policy *approval.RuleSet) func(context.Context, approval.Act) bool {
	return func(ctx context.Context, act approval.Act) bool {
		return approval.IsDenied(ctx, d.store, d.session, policy, act, time.Now())
	}
}

// keptRules are those of the store as they are now.
func (d *desk) keptRules(ctx context.Context) ([]approval.Rule, error) {
	rules, err := d.store.Rules(ctx)
	if err != nil {
		return nil, err
	}
	return rules.Rules(), nil
}

// terminal asks the person at the terminal, and whoever answers in another process: the
// first answer counts. Stop is told if they end the run at the terminal.
func (d *desk) terminal(stop context.CancelCauseFunc) approval.Approver {
	t := term.New(term.Config{
		Footer: d.sandbox.footer(),
		In:     keypress.Person(), Grants: sessionMemory{d.store}, Who: whoami(), History: sessionMemory{d.store}.history, Limit: d.limit, Wide: rulebook.Wide, Status: d.status, Stop: stop,
	})
	t.Use(d)
	return approval.First(t, approval.Queue(d.store))
}

// viewLimit is how much of a view the user wants to see at first.
func viewLimit(user *config.User) present.Limit {
	return present.Limit{
		Lines: cmp.Or(user.ViewLines, present.DefaultLimit.Lines),
		Chars: cmp.Or(user.ViewChars, present.DefaultLimit.Chars),
	}
}

// notified tells the program of the user's own config of what waits for long.
func notified(a approval.Approver, user *config.User) approval.Approver {
	return notify.Around(a, notify.Options{Command: user.Notify, After: user.NotifyAfter})
}

// sessionMemory is the store as the terminal knows it.
type sessionMemory struct{ *store.Store }

// RevokeGrant implements [term.Grants].
func (g sessionMemory) RevokeGrant(session, id string) error {
	return g.Store.RevokeGrant(context.Background(), session, id)
}

func whoami() approval.Who {
	var who approval.Who
	if u, err := user.Current(); err == nil {
		who.User = u.Username
	}
	who.Host, _ = os.Hostname()
	return who
}

// close ends the session, unless it is kept for a run that was put aside.
func (d *desk) close() error {
	d.shown.close()
	for _, g := range d.gates {
		g.Close()
	}
	var err error
	if !d.kept {
		err = d.store.EndSession(context.Background(), d.session)
	}
	return errors.Join(err, d.sandbox.close(), d.store.Close())
}

// history tells how the calls of a session ended.
func (g sessionMemory) history(ctx context.Context, session string) (out []approval.Event, err error) {
	for r, err := range g.Store.Records(ctx, approval.RecordFilter{Session: session}) {
		if err != nil {
			return out, err
		}
		if r.Kind == approval.Ended {
			out = append(out, r.Event)
		}
	}
	return out, nil
}
