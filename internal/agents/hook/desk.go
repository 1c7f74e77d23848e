package hook

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/foreign"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/host"
	"github.com/assent-dev/assent/tool/shell/runner"
)

// A desk is where the call of one event is judged.
type desk struct {
	policy *policy
	store  *store.Store
	roots  *roots.Set
	tools  *tool.Set
	clock  func() time.Time

	observe bool
	inbox   *approval.Gate // nil until the inbox is asked
}

// patience is how long another process may hold the store before the call is denied.
const patience = 3 * time.Second

// openDesk reads all that holds for the event. The error says what is wrong.
func (a *answering) openDesk(ctx context.Context, e agents.Event, want agents.Want, broken error) (*desk, error) {
	p, err := a.policyFor(ctx, e.Dir)
	if err != nil {
		return nil, err
	}
	d := &desk{policy: p, clock: a.Clock, observe: a.Observe || p.user.Hook.Observe}
	protected := append([]string{a.State, a.Config}, p.files...)
	if d.roots, err = roots.New(roots.Options{Secrets: p.Secrets, Protected: protected}, p.Roots...); err != nil {
		return nil, err
	}
	if d.store, err = a.openStore(ctx, p.user); err != nil {
		return nil, errors.Join(err, d.roots.Close())
	}
	if d.tools, err = d.toolFor(ctx, a.Environ, want, broken); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *desk) close() error {
	if d.inbox != nil {
		d.inbox.Close()
	}
	return errors.Join(d.store.Close(), d.roots.Close())
}

// openStore opens the store as the user's config says.
func (a *answering) openStore(ctx context.Context, user *config.User) (*store.Store, error) {
	s, err := store.Open(ctx, a.State, store.Options{
		RuleLimit: user.MaxRules, Detail: approval.Detail(user.Audit.KeepArguments), SyncAll: user.Audit.FsyncAll,
		Patience: patience, Clock: a.Clock,
	})
	if err != nil {
		return nil, err
	}
	if _, err := s.ImportRules(ctx, filepath.Join(a.State, "rules.json")); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// toolFor makes the one tool that is called, under what config says about its name. A
// call that cannot be read becomes one that says so, and is recorded like any other.
func (d *desk) toolFor(ctx context.Context, environ []string, want agents.Want, broken error) (*tool.Set, error) {
	if broken != nil {
		return tool.NewSet(unreadable{want.Call, broken})
	}
	rules, err := d.store.Rules(ctx)
	if err != nil {
		return nil, err
	}
	judge := explain.Explainer{Policy: approval.Policy{Rules: rules, Fixed: d.policy.Rules}, Clock: d.clock}
	opts := foreign.Options{Roots: d.roots, Hosts: d.policy.Shell.Network, Denied: judge.Denied}
	if want.Call.Connector == "" && want.Call.Tool == approval.Shell && d.policy.HasShell {
		if opts.Shell, err = d.shell(environ, judge.Denied); err != nil {
			return nil, err
		}
	}
	configured, _, err := tool.Configure(d.policy.Tools, foreign.For(want.Call, want.Own, opts))
	if err != nil {
		return nil, err
	}
	return tool.NewSet(configured...)
}

// shell judges commands as the agent's own shell would run them.
func (d *desk) shell(environ []string, denied func(context.Context, approval.Act) bool) (*shell.Tool, error) {
	entries := runner.NewEnvironment(environ, d.policy.Shell.Env).Entries()
	world := func(dir string) analysis.World { return host.New(dir, entries) }
	return shell.New(d.policy.Shell, d.roots, shell.Options{World: world, Denied: denied})
}

// An unreadable tool is called by an event that makes no sense.
type unreadable struct {
	call approval.Call
	err  error
}

// Spec implements [tool.Tool].
func (u unreadable) Spec() tool.Spec {
	return tool.Spec{Connector: u.call.Connector, Name: u.call.Tool}
}

// Prepare implements [tool.Tool].
func (u unreadable) Prepare(context.Context, json.RawMessage) (tool.Action, error) {
	return tool.Action{}, u.err
}
