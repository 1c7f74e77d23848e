package hook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/foreign"
	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/runner"
	"github.com/assent-dev/assent/tool/shell/system"
)

// An evaluator is where the call of one event is judged.
type evaluator struct {
	agent   string // that calls
	project string // the folder of the project
	folder  string // that the call came from
	setup   *setup.Setup
	roots   *roots.Set
	tools   *preparedTools
	clock   func() time.Time

	opened func() (*store.Store, error) // waits for the store
	store  *store.Store                 // nil until the desk is ready

	undo    *keeping
	observe bool
	decided bool           // a person has answered
	inbox   *approval.Gate // nil until the inbox is asked
}

// patience is how long another process may hold the store before the call is denied.
const patience = 3 * time.Second

// openEvaluator reads all that holds for the event. The call is prepared while the store is
// opened: both take their time. The error says what is wrong.
func (a *answering) openEvaluator(ctx context.Context, e agents.Event, want agents.Want, broken error) (*evaluator, error) {
	user, err := config.ReadUser(a.Places.Config)
	if err != nil {
		return nil, err
	}
	a.Observe = a.Observe || user.User.Hook.Observe
	d := &evaluator{agent: a.Agent.Name, clock: a.Clock, observe: a.Observe}
	d.opened = sync.OnceValues(func() (*store.Store, error) { return a.openStore(ctx, user.User) })
	prepared := inBackground(func() error { return d.prepare(ctx, a, e, want, user, broken) })
	if d.store, err = d.opened(); err == nil {
		_, err = d.store.Rules(ctx) // the gate finds them read
	}
	if err := errors.Join(<-prepared, err); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// inBackground runs f beside what comes next. A panic of it is its error.
func inBackground(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- fmt.Errorf("the hook panicked: %v", r)
			}
		}()
		done <- f()
	}()
	return done
}

// prepare makes all that needs no store, and says what the call would do.
func (d *evaluator) prepare(ctx context.Context, a *answering, e agents.Event, want agents.Want, user *config.File,
	broken error) (err error) {
	why := a.note // why the command is not replaced
	if d.project, a.note, err = a.project(e); err != nil {
		return err
	}
	if why != "" && why != a.note {
		a.note = strings.TrimPrefix(a.note+"; "+why, "; ")
	}
	d.folder = cmp.Or(e.Dir, d.project)
	order := setup.Order{Places: a.Places, Dir: d.project, Default: true, User: user, Raw: true, NoSandbox: a.noSandbox}
	if d.setup, err = setup.Resolve(ctx, order); err != nil {
		return err
	}
	if d.setup.Careful != "" {
		a.note = strings.TrimPrefix(a.note+"; "+Policy(d.setup), "; ")
	}
	if d.roots, err = d.setup.Roots(); err != nil {
		return err
	}
	d.undo = a.newKeeping(d, e)
	if e.Plan {
		d.setup.Shell, d.setup.Tools = planning(d.setup.Shell, d.setup.Tools)
	}
	set, err := d.toolFor(a.Environ, e.Dir, want, broken)
	if err != nil {
		return err
	}
	shell := a.Agent.Shell(e, a.Environ)
	d.tools = prepareTools(ctx, set, func(ctx context.Context, call policy.Call, acts []policy.Act) ([]policy.Act, error) {
		if call.Connector == "" && call.Tool == policy.ActShell {
			if d.setup.Quiet {
				acts = unheld(acts)
			}
			acts = person(raw(acts, call.Arguments, shell), cmp.Or(want.Person, a.renamed(call.Arguments)))
			if d.setup.Person.Hook.Shell == config.HookStage {
				acts = unstaged(acts)
			}
			return a.inMode(e, d, acts), nil
		}
		acts, err := d.otherwise(ctx, want.Also, call, a.searched(e, d.project, call, acts))
		return a.inMode(e, d, d.undo.cover(ctx, call, acts)), err
	}, want.Call)
	return nil
}

// longLog is how long the log of the store may be when a process leaves it behind: closing
// moves it, and the next process to open the store reads it.
const longLog = 256 << 10

// leave closes the desk. A process that ends leaves the store as it is: everything is
// committed, and to close it takes longer than all the rest. What a person decided must be
// on the disk.
func (d *evaluator) leave(exits bool) error {
	left := d.undo.leave()
	if info, err := os.Stat(d.store.Path() + "-wal"); exits && !d.decided && err == nil && info.Size() < longLog {
		return left
	}
	return errors.Join(left, d.close())
}

func (d *evaluator) close() error {
	if d.inbox != nil {
		d.inbox.Close()
	}
	var errs []error
	if s, err := d.opened(); err == nil && s != nil {
		errs = append(errs, s.Close())
	}
	if d.roots != nil {
		errs = append(errs, d.roots.Close())
	}
	return errors.Join(errs...)
}

// openStore opens the store as the user's config says.
func (a *answering) openStore(ctx context.Context, user *config.User) (*store.Store, error) {
	a.Places.WakeBridge()
	return store.Open(ctx, a.Places.State, store.Options{
		RuleLimit: user.MaxRules, Detail: approval.Detail(user.Audit.KeepArguments), Patience: patience, Clock: a.Clock,
		SyncAll: user.Audit.FsyncAll, Brief: true, Posted: a.Places.WakeBridge,
	})
}

// toolFor makes the one tool that is called, under what config says about its name. A
// call that cannot be read becomes one that says so, and is recorded like any other.
func (d *evaluator) toolFor(environ []string, dir string, want agents.Want, broken error) (*tool.Set, error) {
	if broken != nil {
		return tool.NewSet(unreadable{want.Call, broken})
	}
	var err error
	opts := foreign.Options{Roots: d.roots, Hosts: d.setup.Shell.Network, Denied: d.denied(want.Call.Session),
		Changing: d.undo.see}
	if want.Call.Connector == "" && want.Call.Tool == policy.ActShell && d.setup.HasShell {
		read := analysis.Read
		if opts.Within = dir == ""; opts.Within {
			read = analysis.ReadWithin
		}
		if opts.Shell, err = d.shell(environ, opts.Denied, read); err != nil {
			return nil, err
		}
	}
	configured, _, err := tool.Configure(d.setup.Tools, foreign.For(want.Call, want.Own, opts))
	if err != nil {
		return nil, err
	}
	return tool.NewSet(configured...)
}

// shell judges commands as the agent's own shell would run them.
func (d *evaluator) shell(environ []string, denied func(context.Context, policy.Act) bool,
	read func(text, dir string, world analysis.World) (*analysis.Script, error)) (*shell.Tool, error) {
	entries := runner.NewEnvironment(environ, d.setup.Shell.Env).Entries()
	world := func(dir string) analysis.World { return system.New(dir, entries) }
	return shell.New(d.setup.Shell, d.roots, shell.Options{World: world, Denied: denied, Read: read})
}

// denied tells which acts are denied on their own, by a rule or for the agent's session.
func (d *evaluator) denied(session string) func(context.Context, policy.Act) bool {
	call := policy.Call{Session: session, Project: d.setup.Scope}
	return func(ctx context.Context, act policy.Act) bool {
		s, err := d.opened()
		if err != nil || d.setup.Decided(call, act) {
			return true
		}
		rules, err := d.setup.InForce().Current()
		switch {
		case err != nil:
			return true
		case s == nil: // nothing is kept yet, and nobody but a look goes on without a store
			meets, _ := policy.Policy{Fixed: rules}.Denies(call, act, d.clock())
			return meets == policy.MatchYes
		}
		return approval.IsDenied(ctx, s, call, rules, act, d.clock())
	}
}

// An unreadable tool is called by an event that makes no sense.
type unreadable struct {
	call policy.Call
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

// preparedTools is a set of tools that has prepared a call before the gate asks, for as long as
// the gate asks about that one first.
type preparedTools struct {
	*tool.Set
	check     checker
	arguments []byte // nil once it was asked
	proposal  approval.Proposal
	err       error
}

// prepareTools prepares a call as the gate will.
func prepareTools(ctx context.Context, set *tool.Set, check checker, call policy.Call) *preparedTools {
	e := &preparedTools{Set: set, check: check}
	args, err := canonical.Arguments(call.Arguments)
	if err != nil {
		return e // the gate says so
	}
	call.Arguments, e.arguments = args, args
	e.proposal, e.err = e.guarded(set.Turn(ctx), call)
	return e
}

// Prepare implements [approval.Preparer].
func (e *preparedTools) Prepare(ctx context.Context, call policy.Call) (approval.Proposal, error) {
	args := e.arguments
	e.arguments = nil
	if args != nil && bytes.Equal(args, call.Arguments) {
		return e.proposal, e.err
	}
	return e.guarded(ctx, call)
}

// A checker looks at what a call would do once more, because another agent runs it.
type checker func(context.Context, policy.Call, []policy.Act) ([]policy.Act, error)

// guarded is what a call would do, to an agent's own settings too, and in its own shell.
func (e *preparedTools) guarded(ctx context.Context, call policy.Call) (approval.Proposal, error) {
	p, err := e.Set.Prepare(ctx, call)
	if err != nil {
		return p, err
	}
	p.Acts, err = e.check(ctx, call, guard(p.Acts))
	return p, err
}

// remembering is what a gate asks for what is kept.
type remembering interface {
	approval.RuleStore
	approval.Switch
	approval.GrantStore
}

// quiet hides that a store tells of changes: a call that nobody is asked about ends before
// there could be one, and listening takes time.
type quiet struct{ remembering }

const observed = "only observed: the agent was told nothing"

// recorder records where a call came from, and what was only observed as what it is: the agent was
// told nothing.
func (d *evaluator) recorder() agents.Recorder {
	return agents.Recorder{DetailRecorder: d.store, Add: func(_ context.Context, e *approval.Event) {
		e.Folder = d.folder
		if d.observe {
			e.Stage, e.Note = approval.StageReleased, observed
		}
	}}
}

// otherwise judges a call under the other names that it may have: mcp__a__b__c is the tool c of
// a__b as well as b__c of a, and only the agent knows which. A deny of any of them holds, and
// where one is not allowed no rule for another answers.
func (d *evaluator) otherwise(ctx context.Context, names []agents.ToolName, call policy.Call,
	acts []policy.Act) ([]policy.Act, error) {
	if len(names) == 0 || len(acts) == 0 || acts[0].Verdict == policy.VerdictBlock {
		return acts, nil
	}
	rules, grants, err := d.kept(ctx, call.Session)
	if err != nil {
		return nil, err
	}
	p := policy.Policy{Rules: rules, Grants: grants, Mode: policy.ModeAsk}
	if team := d.setup.Team(); team != nil {
		if p.Reserved, err = team.Reserved(); err != nil {
			return nil, err
		}
	}
	if p.Fixed, err = d.setup.InForce().Current(); err != nil { // after the team was asked
		return nil, err
	}
	acts = append([]policy.Act{}, acts...)
	for _, name := range names {
		other := policy.Call{Connector: name.Connector, Tool: name.Tool, Arguments: call.Arguments,
			Session: call.Session, Project: d.setup.Scope}
		act := policy.Act{Connector: name.Connector, Name: name.Tool,
			Target: policy.ArgumentsTarget(call.Arguments), Verdict: policy.VerdictAsk}
		j := p.Judge(policy.Question{Call: &other, Acts: []policy.Act{act},
			Now: d.clock()})
		may := fmt.Sprintf("it may be the tool %s of the server %s", name.Tool, name.Connector)
		switch {
		case j.State == policy.StateAutoDenied:
			acts[0].Verdict, acts[0].Why = policy.VerdictBlock, may+", which is denied"
			if j.Rule != nil {
				acts[0].Why += " by " + j.Rule.String()
			}
			return acts, nil
		case d.setup.Decided(other, act) && !d.setup.Decided(call, acts[0]): // by that name the request would go to nobody
			acts[0].Verdict, acts[0].Why = policy.VerdictBlock, may+", about which the team decides; give the server another name"
			return acts, nil
		case !j.State.Runs():
			acts[0].Verdict, acts[0].PersonOnly = policy.VerdictAsk, true
			acts[0].Why = may + ", and no rule allows that; write rules for each name that it may have"
		}
	}
	return acts, nil
}

// kept are the rules that are kept, and the grants of a session; none if there is no store.
func (d *evaluator) kept(ctx context.Context, session string) (*policy.RuleSet, *policy.GrantSet, error) {
	s, err := d.opened()
	if err != nil || s == nil {
		return nil, nil, err
	}
	rules, err := s.Rules(ctx)
	if err != nil {
		return nil, nil, err
	}
	grants, err := s.Grants(ctx, session)
	return rules, grants, err
}
