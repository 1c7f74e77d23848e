package runs

import (
	"os/user"

	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/crew"
	"github.com/assent-dev/assent/internal/notify"
	"github.com/assent-dev/assent/internal/rulebook"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/terminal"
	"github.com/assent-dev/assent/tool"
)

// A Session is what the gates of a run share: what they stand on, who is asked, and where it is
// shown what goes on.
type Session struct {
	*open.Base
	approver approval.Approver
	timeout  time.Duration // after which silence is a denial; 0 for never
	ties     crew.Dependencies
	status   *terminal.Status // nil where it cannot be drawn
	shown    *Progress

	mu    sync.Mutex
	gates map[string]*tool.Gate // by chain of workers
}

// Open opens the base of a run. Asks makes the one who is asked, once there is something to
// show; nil means that nobody is. Silence is a denial after the timeout, if it is not 0.
func Open(ctx context.Context, s *setup.Setup, order open.Order, timeout time.Duration,
	asks func(*Session) approval.Approver) (*Session, error) {
	base, err := open.Open(ctx, s, order)
	if err != nil {
		return nil, err
	}
	d := &Session{Base: base, status: terminal.NewStatus(os.Stderr, nil), timeout: timeout,
		gates: map[string]*tool.Gate{}}
	d.shown = NewProgress(d.Store, d.status)
	if asks != nil {
		d.approver = asks(d)
	}
	if d.approver != nil {
		d.approver = d.ties.Approver(Waiting(d.approver, s.Person, timeout))
	}
	return d, nil
}

// SaySandbox tells once, at the start, what is missing of the sandbox.
func (s *Session) SaySandbox(w io.Writer) {
	if text := s.Sandbox.Notice(); text != "" {
		fmt.Fprintf(w, "assent: %s 'assent sandbox doctor' says more.\n", text)
	}
}

// Guard puts a gate in front of the tools of one worker. All gates of a session ask the same
// people, keep grants in the same session and records in the same log.
func (s *Session) Guard(chain []string, conf config.Rules, tools []tool.Tool) (*tool.Gate, error) {
	g, err := tool.Guard(s.GateConfig(conf), tools...)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gates[chainKey(chain)] = g
	return g, nil
}

// GateConfig is what a gate of the session is made of.
func (s *Session) GateConfig(conf config.Rules) approval.Config {
	cfg := s.Gate(conf)
	cfg.Approver, cfg.Recorder = s.approver, s.ties.Recorder(s.shown)
	origin := cfg.Origin
	cfg.Origin = func(ctx context.Context) approval.Origin {
		o := origin(ctx)
		if s.timeout > 0 {
			o.Until = time.Now().Add(s.timeout)
		}
		return o
	}
	return cfg
}

func chainKey(chain []string) string { return strings.Join(chain, "\x00") }

// Covers implements [terminal.Coverer]: the gate of who asks knows.
func (s *Session) Covers(ctx context.Context, r *approval.Request, answer approval.Decision) []*approval.Request {
	s.mu.Lock()
	g := s.gates[chainKey(r.Call.Workers)]
	s.mu.Unlock()
	if g == nil {
		return nil
	}
	return g.Covers(ctx, r, answer)
}

// Terminal asks the person at the terminal, and whoever answers in another process: the
// first answer counts. Stop is told if they end the run at the terminal.
func (s *Session) Terminal(stop context.CancelCauseFunc) approval.Approver {
	cfg := PromptConfig(s.Store, s.Person)
	cfg.Footer, cfg.In, cfg.Status, cfg.Stop = s.Sandbox.Footer(), terminal.Person(), s.status, stop
	t := terminal.NewWith(cfg)
	t.Use(s)
	return approval.First(t, approval.Queue(s.Store))
}

// A waitingFor is an approver in another process; it says that the run waits, and for what.
type waitingFor struct {
	approval.BatchApprover
	status *terminal.Status // may be nil
	out    io.Writer
}

// Approve implements [approval.Approver].
func (w waitingFor) Approve(ctx context.Context, r *approval.Request) (approval.Decision, error) {
	defer w.say(r).Done()
	return w.BatchApprover.Approve(ctx, r)
}

// ApproveBatch implements [approval.BatchApprover].
func (w waitingFor) ApproveBatch(ctx context.Context, b *approval.Batch) error {
	defer w.say(b.Pending()...).Done()
	return w.BatchApprover.ApproveBatch(ctx, b)
}

// say prints what the run waits for, and shows on the status line that it does.
func (w waitingFor) say(pending ...*approval.Request) *terminal.Task {
	here := false
	w.status.Aside(func() {
		for _, r := range pending {
			whom := "the inbox"
			if here = here || !r.TeamDecides(); r.TeamDecides() {
				whom = "the team (" + r.Routing.Need.String() + ")"
			}
			fmt.Fprintf(w.out, "assent: waiting for %s: %s · %s\n", present.SafeLine(whom), present.SafeLine(r.Call.Name()),
				present.SafeLine(r.Summary))
		}
		if here {
			fmt.Fprintln(w.out, "assent: to answer, run 'assent inbox' in another terminal.")
		}
	})
	if here {
		return w.status.Start("waiting for the inbox")
	}
	return w.status.Start("waiting for the team")
}

// A teamOnly asks the team, and nobody else: what is not for the team is refused.
type teamOnly struct{ approval.BatchApprover }

// Approve implements [approval.Approver].
func (t teamOnly) Approve(ctx context.Context, r *approval.Request) (approval.Decision, error) {
	if r.Routing == nil {
		return approval.Decision{}, approval.ErrNobody
	}
	return t.BatchApprover.Approve(ctx, r)
}

// ApproveBatch implements [approval.BatchApprover].
func (t teamOnly) ApproveBatch(ctx context.Context, b *approval.Batch) error {
	for _, r := range b.Pending() {
		if r.Routing != nil {
			continue
		}
		if err := b.Resolve(ctx, r.Deny("no terminal or inbox is open to ask, and this is not for the team")); err != nil {
			return err
		}
	}
	return t.BatchApprover.ApproveBatch(ctx, b)
}

// PromptConfig is what every prompt at a terminal is made of.
func PromptConfig(s *store.Store, of *config.User) terminal.Config {
	kept := sessionMemory{s}
	return terminal.Config{
		Grants: kept, Who: Whoami(), History: kept.history, Wide: rulebook.Wide,
		Limit: present.Limit{
			Lines: cmp.Or(of.ViewLines, present.DefaultLimit().Lines),
			Chars: cmp.Or(of.ViewChars, present.DefaultLimit().Chars),
		},
	}
}

// Waiting is an approver whose answer may take long: the program of the user's own config is told
// of what waits, and silence is a denial after a time, if that is not 0. The time stands beside
// the one who is asked and not around: what times out is settled before anybody withdraws it.
func Waiting(a approval.Approver, of *config.User, timeout time.Duration) approval.Approver {
	o := notify.Options{Command: of.Notify, After: of.NotifyAfter}
	if self, err := os.Executable(); err == nil && of.Webhook.URL != "" {
		o.Webhook = self
	}
	a = notify.Around(a, o)
	if timeout == 0 {
		return a
	}
	return approval.First(a, approval.Timeout(timeout, silence))
}

// silence is an approver that never answers.
var silence = approval.ApproverFunc(func(ctx context.Context, _ *approval.Request) (approval.Decision, error) {
	<-ctx.Done()
	return approval.Decision{}, context.Cause(ctx)
})

// sessionMemory is the store as the terminal knows it.
type sessionMemory struct{ *store.Store }

// RevokeGrant implements [terminal.Grants].
func (g sessionMemory) RevokeGrant(session, id string) error {
	return g.Store.RevokeGrant(context.Background(), session, id)
}

// Whoami is the person at this program.
func Whoami() policy.Who {
	var who policy.Who
	if u, err := user.Current(); err == nil {
		who.User = u.Username
	}
	who.Host, _ = os.Hostname()
	return who
}

// Close ends the session, unless it is kept for a run that was put aside.
func (s *Session) Close() error {
	s.shown.close()
	for _, g := range s.gates {
		g.Close()
	}
	return s.Base.Close()
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

// History tells how the calls of the session ended.
func (s *Session) History(ctx context.Context) ([]approval.Event, error) {
	return sessionMemory{s.Store}.history(ctx, s.Base.Session)
}

// Thinking is a model that shows on the status line that it is asked.
func (s *Session) Thinking(model worker.Talker) worker.Talker { return thinking{model, s.status} }

// WithProgress has what calls print shown on the status line.
func (s *Session) WithProgress(ctx context.Context) context.Context {
	return tool.WithProgress(ctx, s.shown)
}
