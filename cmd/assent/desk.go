package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
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
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/term"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/tool"
)

// A desk is what the gates of a run share: what they stand on, who is asked, and where it is
// shown what goes on.
type desk struct {
	*open.Base
	approver approval.Approver
	ties     crew.Dependencies
	status   *term.Status // nil where it cannot be drawn
	shown    *progress

	mu    sync.Mutex
	gates map[string]*tool.Gate // by chain of workers
}

// openDesk opens the base of a run. Asks makes the one who is asked, once there is something
// to show; nil means that nobody is. Silence is a denial after the timeout, if it is not 0.
func openDesk(ctx context.Context, s *setup.Setup, order open.Order, timeout time.Duration, asks func(*desk) approval.Approver) (*desk, error) {
	base, err := open.Open(ctx, s, order)
	if err != nil {
		return nil, err
	}
	d := &desk{Base: base, status: term.NewStatus(os.Stderr, nil), gates: map[string]*tool.Gate{}}
	d.shown = &progress{next: d.Store, status: d.status}
	if asks != nil {
		d.approver = asks(d)
	}
	if d.approver != nil {
		d.approver = d.ties.Approver(limited(notified(d.approver, s.Person), timeout))
	}
	return d, nil
}

// saySandbox tells once, at the start, what is missing of the sandbox.
func (d *desk) saySandbox(w io.Writer) {
	if text := d.Sandbox.Notice(); text != "" {
		fmt.Fprintf(w, "assent: %s 'assent sandbox doctor' says more.\n", text)
	}
}

// gate puts a gate in front of the tools of one worker. All gates of a desk ask the same
// people, keep grants in the same session and records in the same log.
func (d *desk) gate(chain []string, conf *policy.RuleSet, tools []tool.Tool) (*tool.Gate, error) {
	g, err := tool.Guard(d.gateConfig(conf), tools...)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.gates[chainKey(chain)] = g
	return g, nil
}

func (d *desk) gateConfig(conf *policy.RuleSet) approval.Config {
	cfg := d.Gate(conf)
	cfg.Approver, cfg.Recorder = d.approver, d.ties.Recorder(d.shown)
	return cfg
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

// terminal asks the person at the terminal, and whoever answers in another process: the
// first answer counts. Stop is told if they end the run at the terminal.
func (d *desk) terminal(stop context.CancelCauseFunc) approval.Approver {
	memory := sessionMemory{d.Store}
	t := term.New(term.Config{
		Footer: d.Sandbox.Footer(),
		In:     keypress.Person(), Grants: memory, Who: whoami(), History: memory.history, Limit: viewLimit(d.Person), Wide: rulebook.Wide, Status: d.status, Stop: stop,
	})
	t.Use(d)
	return approval.First(t, approval.Queue(d.Store))
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

func whoami() policy.Who {
	var who policy.Who
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
	return d.Base.Close()
}

// history tells how the calls of a session ended.
func (g sessionMemory) history(ctx context.Context, session string) (out []approval.Event, err error) {
	for r, err := range g.Store.Records(ctx, approval.RecordFilter{Session: session}) {
		if err != nil {
			return out, err
		}
		if r.Kind == approval.EventEnded {
			out = append(out, r.Event)
		}
	}
	return out, nil
}
