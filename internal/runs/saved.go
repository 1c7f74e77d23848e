package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/crew"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
	"github.com/assent-dev/assent/tool"
	pinned "github.com/assent-dev/assent/tool/command"
)

// savedVersion is the version of the JSON form of a saved run.
const savedVersion = 1

// A Saved run is one that waits for answers: how it was started, and how far it is.
type Saved struct {
	Version   int           `json:"version"`
	Worker    string        `json:"worker"` // the path of its file
	Folder    string        `json:"folder"` // where it was started
	Config    string        `json:"config,omitempty"`
	Set       []string      `json:"set,omitempty"`
	Model     string        `json:"model,omitempty"`
	OnDeny    string        `json:"on_deny"`
	MaxSteps  int           `json:"max_steps,omitempty"`
	MaxTokens int64         `json:"max_tokens,omitempty"`
	MaxTime   time.Duration `json:"max_time,omitempty"`
	// Created are the workers that a person agreed to in the run.
	Created map[string]policy.Digest `json:"created,omitempty"`
	// Programs are what the run starts, as they were when it began.
	Programs *pinned.Programs `json:"programs,omitempty"`
	Run      json.RawMessage  `json:"run"`
}

// Options are those that the run was started with.
func (s Saved) Options() Options {
	return Options{
		Model: s.Model, StopOnDeny: s.OnDeny == "stop",
		Limits: worker.Limits{Steps: s.MaxSteps, Tokens: s.MaxTokens, Time: s.MaxTime},
	}
}

// savedRun keeps a run in the store while it waits.
type savedRun struct {
	*job
	id      string
	version int64 // of what is kept
	saved   Saved
}

var _ worker.RunStore = (*savedRun)(nil)

// Save implements [worker.RunStore].
func (r *savedRun) Save(ctx context.Context, data []byte) error {
	r.saved.Run, r.saved.Created, r.saved.Programs = data, r.crew.Created(), r.session.Programs
	all, err := json.Marshal(r.saved)
	if err != nil {
		return err
	}
	version, err := r.session.Store.SaveRun(ctx, sessions.SavedRun{
		ID: r.id, Session: r.session.Session, Version: r.version, Data: all,
	})
	if err == nil {
		r.version = version // otherwise what was kept before still is
	}
	return err
}

// Collect implements [worker.RunStore].
func (r *savedRun) Collect(ctx context.Context, b *approval.Batch) error {
	err := approval.Collect(ctx, r.session.Store, b)
	r.session.ties.Settle(ctx, b)
	var withdrawn *approval.WithdrawnError
	if errors.As(err, &withdrawn) {
		return nil // nobody's answer; it is asked again
	}
	return err
}

// Post implements [worker.RunStore]. What waits no more is withdrawn.
func (r *savedRun) Post(ctx context.Context, b *approval.Batch) error {
	pending := b.Pending()
	open, err := r.session.Store.Open(ctx, r.session.Session)
	if err != nil {
		return err
	}
	for _, p := range open {
		if !slices.ContainsFunc(pending, func(r *approval.Request) bool { return r.ID == p.Request.ID }) {
			dismissed := approval.Settlement{State: policy.StateDismissed}
			if err := r.session.Store.Settle(ctx, p.Request, dismissed); err != nil {
				return err
			}
		}
	}
	return r.session.Store.Post(ctx, pending...)
}

// ended forgets a run that waits for nothing any more.
func (r *savedRun) ended(ctx context.Context) error {
	if r.version == 0 {
		return nil
	}
	return r.session.Store.DeleteRun(context.WithoutCancel(ctx), r.id)
}

// Load reads a saved run.
func Load(run sessions.SavedRun) (Saved, error) {
	var s Saved
	if err := json.Unmarshal(run.Data, &s); err != nil {
		return s, fmt.Errorf("run %s: %w", run.ID, err)
	}
	if s.Version != savedVersion {
		return s, fmt.Errorf("run %s has version %d; this program knows version %d", run.ID, s.Version, savedVersion)
	}
	return s, nil
}

// later lets a run go on until it ends or waits for a person, and keeps it then. It is also
// kept where it was interrupted, or where something failed that may work later.
func (r *savedRun) later(ctx context.Context, w io.Writer, do doing) error {
	r.crew.Store, r.shown.run = r, r.id
	err := r.do(ctx, do)
	var paused *worker.PausedError
	if errors.As(err, &paused) {
		r.session.KeepSession = true
		printPending(w, r.id, paused.Pending)
		return err
	}
	if over(err) || r.version == 0 {
		r.session.KeepSession = false
		return errors.Join(err, r.ended(ctx))
	}
	r.session.KeepSession = true
	fmt.Fprintf(w, "The run is saved as it was before that. Continue it with: assent resume %s\n", r.id)
	return err
}

// over reports whether a run that ended so has ended for good. One that another process goes
// on with has not.
func over(err error) bool {
	if errors.Is(err, sessions.ErrRunChanged) {
		return false
	}
	return err == nil || errors.Is(err, worker.ErrLimit) ||
		errors.As(err, new(*worker.StoppedError)) || errors.As(err, new(*crew.OutputError))
}

// printPending lists what a run waits for.
func printPending(w io.Writer, run string, pending []*approval.Request) {
	fmt.Fprintf(w, "The run is waiting for your answer to:\n")
	for _, r := range pending {
		fmt.Fprintf(w, "  %s  %s · %s", r.ID, present.SafeLine(r.Call.Name()), present.SafeLine(r.Summary))
		if len(r.Call.Workers) > 1 {
			fmt.Fprintf(w, "  (%s)", present.SafeLine(strings.Join(r.Call.Workers, " › ")))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "Answer with 'assent approve ID' or 'assent deny ID', then: assent resume %s\n", run)
}

// Preview says what a request of a saved run would be with other arguments. It makes and records
// nothing. Holds is what holds for the run now.
func Preview(ctx context.Context, s *store.Store, run sessions.SavedRun, holds *setup.Setup, request string,
	args json.RawMessage) (*approval.Request, error) {
	saved, err := Load(run)
	if err != nil {
		return nil, err
	}
	base, err := open.Open(ctx, holds, open.Order{Use: open.Look, Held: true, Session: run.Session})
	if err != nil {
		return nil, err
	}
	defer base.Close()
	o := saved.Options()
	all := o.crew(&Session{Base: base}, nil)
	all.Recall(saved.Created)
	all.Looking, all.Connect = true, nil // the tools are as in the run, or the fingerprint would be another
	all.Gate = func(_ []string, rules config.Rules, tools []tool.Tool) (*tool.Gate, error) {
		gate := approval.Config{Session: run.Session, Project: holds.Scope, Policy: rules.Set, Fixed: rules.Now, Rules: s, Grants: s,
			Team: holds.Team()}
		return tool.Guard(gate, tools...)
	}
	all.Model = noModel
	m, err := all.Open(holds.Configuration)
	if err != nil {
		return nil, err
	}
	r, err := m.Preview(ctx, saved.Run, request, args)
	switch err = errors.Join(err, m.Close()); {
	case errors.Is(err, approval.ErrWrongCall):
		return nil, fmt.Errorf("request %s is no longer what was shown; 'assent resume %s' asks it again", request,
			run.ID)
	case err != nil:
		return nil, fmt.Errorf("with these arguments it cannot be approved: %w", err)
	}
	return r, nil
}
