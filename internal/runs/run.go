package runs

import (
	"github.com/assent-dev/assent/internal/explain"

	"github.com/assent-dev/assent/internal/setup/open"

	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/crew"
	"github.com/assent-dev/assent/internal/model/providers"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store/sessions"
	"github.com/assent-dev/assent/terminal"
	"github.com/assent-dev/assent/tool"
	pinned "github.com/assent-dev/assent/tool/command"
)

// Options say how a run goes, and who answers.
type Options struct {
	// Model is in place of the worker's own; also for workers it calls that name none.
	Model      string
	Limits     worker.Limits
	StopOnDeny bool
	// Mode says who answers; nil leaves that to config.
	Mode *policy.Mode
	// AskTimeout turns silence into a denial, if it is not 0.
	AskTimeout time.Duration
	// AskInbox has whoever answers in another process asked, and not the terminal.
	AskInbox bool
	// View shows the run, and what a person should know of it.
	View *View
}

// A which says which session a run has: a new one, or one that goes on, and whether it
// outlives this process.
type which struct {
	kind     sessions.Kind
	id       string
	keeps    bool
	programs *pinned.Programs // that it starts, if it goes on
}

// doing is what a worker does in a run.
type doing func(context.Context, *worker.Run) (worker.Round, error)

func saying(m worker.Message) doing {
	return func(ctx context.Context, r *worker.Run) (worker.Round, error) { return r.Say(ctx, m) }
}

// Run gives the worker of the setup a message, and lets it work until it wants nothing more.
func (o *Options) Run(ctx context.Context, s *setup.Setup, message worker.Message) error {
	return o.work(ctx, s, which{}, func(ctx context.Context, j *job) error { return j.do(ctx, saying(message)) })
}

// RunDeferred is Run, but the run is saved when a person is needed. Started says how it is
// started again.
func (o *Options) RunDeferred(ctx context.Context, s *setup.Setup, message worker.Message, started Saved) error {
	started.Version = savedVersion
	return o.work(ctx, s, which{keeps: true}, func(ctx context.Context, j *job) error {
		a := &savedRun{job: j, id: strings.ToLower(rand.Text()[:10]), saved: started}
		return a.later(ctx, o.View.errors(), saying(message))
	})
}

// Resume goes on with a saved run.
func (o *Options) Resume(ctx context.Context, s *setup.Setup, run sessions.SavedRun, saved Saved) error {
	of := which{id: run.Session, keeps: true, programs: saved.Programs}
	return o.work(ctx, s, of, func(ctx context.Context, j *job) error {
		j.crew.Recall(saved.Created)
		a := &savedRun{job: j, id: run.ID, version: run.Version, saved: saved}
		return a.later(ctx, o.View.errors(), func(ctx context.Context, r *worker.Run) (worker.Round, error) {
			return r.Resume(ctx, saved.Run)
		})
	})
}

// Chat gives the worker one message after another, until next gives none. What ends a run, a
// limit or a denial, does not end a chat.
func (o *Options) Chat(ctx context.Context, s *setup.Setup, next func(context.Context) (string, error)) error {
	return o.work(ctx, s, which{kind: sessions.KindChat}, func(ctx context.Context, j *job) error {
		run, err := j.member.Run(ctx)
		if err != nil {
			return err
		}
		for {
			text, err := next(ctx)
			if err != nil || text == "" {
				return err
			}
			_, err = run.Say(j.session.WithProgress(ctx), worker.Message{Text: text})
			var stopped *worker.StoppedError
			switch {
			case err == nil:
			case errors.As(err, &stopped) && stopped.State != policy.StateDismissed, errors.Is(err, worker.ErrLimit):
				o.View.say.Line("assent: %s", err)
			default:
				return err
			}
		}
	})
}

// Call takes one call by hand through a gate in front of the tools of the setup.
func (o *Options) Call(ctx context.Context, s *setup.Setup, of explain.Call) (result tool.Result, err error) {
	call := policy.Call{ID: "by-hand", Tool: of.Tool, Arguments: []byte(of.Args)}
	if connector, own, ok := strings.Cut(of.Tool, ":"); ok {
		call.Connector, call.Tool = connector, own
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	d, err := o.open(ctx, s, which{}, stop)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	named := slices.DeleteFunc(slices.Clone(d.Connectors),
		func(c config.Connector) bool { return c.Name != call.Connector })
	foreign, err := d.connect(ctx, named)
	if err != nil {
		return result, err
	}
	defer foreign.close()
	box, err := d.Box(d.Configuration, open.Tools{Further: foreign.Tools(named)})
	if err != nil {
		return result, err
	}
	defer box.Close()
	Warn(box.Warnings)
	gate, err := d.Guard(nil, d.InForce(), box.Tools)
	if err != nil {
		return result, err
	}
	result = tool.Call(d.WithProgress(ctx), gate, call)
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	return result, nil
}

// A job is a worker that is open, with what its run needs.
type job struct {
	crew    *crew.Crew
	member  *crew.Member
	session *Session
	shown   *View
}

// do lets the worker run, and shows how that begins and ends.
func (j *job) do(ctx context.Context, do doing) error {
	run, err := j.member.Run(ctx)
	if err != nil {
		return err
	}
	j.shown.begin(j.member, j.session)
	round, err := do(j.session.WithProgress(ctx), run)
	if err == nil {
		err = crew.CheckOutput(j.member.Worker, crew.LastText(round))
	}
	j.shown.end(run.Usage(), err)
	return err
}

// work opens the session and the crew for a worker, lets do use them, and closes both.
func (o *Options) work(ctx context.Context, s *setup.Setup, of which, do func(context.Context, *job) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	d, err := o.open(ctx, s, of, stop)
	if err != nil {
		return err
	}
	d.KeepSession = of.id != "" // until the run has ended
	foreign, err := d.connect(ctx, s.Connectors)
	if err != nil {
		return errors.Join(err, d.Close())
	}
	all := o.crew(d, stop)
	o.View.before = foreign.tell
	all.Watch, all.Connect = o.View.watch, foreign.Tools
	m, err := all.Open(s.Configuration)
	if err != nil {
		return errors.Join(err, foreign.close(), d.Close())
	}
	Warn(m.Box.Warnings)
	err = do(ctx, &job{all, m, d, o.View})
	return errors.Join(err, m.Close(), foreign.close(), d.Close())
}

// open opens the session of a run, as options and config say.
func (o *Options) open(ctx context.Context, s *setup.Setup, of which, stop context.CancelCauseFunc) (*Session, error) {
	person := terminal.Person() != nil
	order := open.Order{
		Use: open.Run, Mode: o.Mode, Session: of.id, Kind: of.kind, Kept: of.keeps, Programs: of.programs,
		Steps: !of.keeps && (person || o.AskInbox || AsksTeam(s)), // what was refused is forgotten with this process
		Agent: agentName(s),
	}
	d, err := Open(ctx, s, order, cmp.Or(o.AskTimeout, s.User.AskTimeout), func(d *Session) approval.Approver {
		switch {
		case of.keeps: // nobody is asked while the run lasts
			return nil
		case o.AskInbox:
			return waitingFor{approval.Queue(d.Store), d.status, o.View.errors()}
		case person:
			return d.Terminal(stop)
		case AsksTeam(s):
			return teamOnly{waitingFor{approval.Queue(d.Store), d.status, o.View.errors()}}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	w := o.View.errors()
	d.SaySandbox(w)
	off, err := open.ApprovalsOff(ctx, s.Person, d.Store)
	switch {
	case err != nil:
		return nil, errors.Join(err, d.Close())
	case off != "" && order.Mode == nil:
		open.SayApprovalsOff(w, off)
	case d.Mode == policy.ModeApproveAll:
		fmt.Fprintln(w, "WARNING: approve-all: what would be asked runs without a question.")
	}
	return d, nil
}

// AsksTeam reports whether people of a team can be asked though nobody is at this machine.
func AsksTeam(s *setup.Setup) bool {
	status, ok := s.TeamStatus()
	return ok && status.Gate != ""
}

// agentName is who asks in a run: the worker, or whoever calls a tool by hand.
func agentName(s *setup.Setup) string {
	if s.Worker != nil && s.Worker.Name != "" {
		return s.Worker.Name
	}
	return "assent call"
}

// Warn prints what is accepted and should be written otherwise.
func Warn(warnings []string) {
	for _, w := range warnings {
		fmt.Fprintln(os.Stderr, "assent: warning:", present.SafeLine(w))
	}
}

// noModel is for who looks at workers and runs none.
func noModel(context.Context, *config.Worker) (worker.Talker, error) { return nil, nil }

// crew gathers the workers of a run.
func (o *Options) crew(d *Session, stop context.CancelCauseFunc) *crew.Crew {
	all := &crew.Crew{
		Folders: workerFolders(d.Setup), Tools: d.Box, Gate: d.Guard, Dependencies: &d.ties, Stop: stop,
		Limits: o.Limits, StopOnDeny: o.StopOnDeny || d.Setup.User.StopOnDeny,
	}
	all.Configure = func(ctx context.Context, file *config.File) (*config.Configuration, error) {
		trusted, err := d.Trusts(ctx, file)
		if err != nil {
			return nil, err
		}
		return d.With(file, trusted || all.Agreed(file))
	}
	all.Model = func(ctx context.Context, of *config.Worker) (worker.Talker, error) {
		t, err := o.openModel(ctx, d.Setup, of)
		return d.Thinking(t), err
	}
	return all
}

// workerFolders are where the workers of a run are found by name.
func workerFolders(s *setup.Setup) []string {
	return []string{filepath.Join(s.Dir, "workers"), filepath.Join(s.Places.Config, "workers"), s.Places.Config}
}

// openModel opens the model of a worker: its own, that of the options, or that of the user. For
// the worker that the person named the options come first.
func (o *Options) openModel(ctx context.Context, s *setup.Setup, of *config.Worker) (worker.Talker, error) {
	type choice struct{ name, folder string }
	own, asked, user := choice{of.Model, of.Folder}, choice{o.Model, s.Dir}, choice{s.User.Model, s.Places.Config}
	choices := []choice{own, asked, user}
	if of == s.Worker {
		choices = []choice{asked, own, user}
	}
	for _, choice := range choices {
		if choice.name == "" {
			continue
		}
		provider, _, _ := strings.Cut(choice.name, ":")
		p := s.User.Providers[provider]
		return providers.Open(ctx, choice.name, providers.Options{
			BaseURL: p.BaseURL, KeyVariable: p.KeyVariable, MaxTokens: p.MaxTokens, Folder: choice.folder,
		})
	}
	return nil, errors.New("no model is set; add model: to the worker's file, pass --model, or set model: in your " +
		"config.yaml")
}
