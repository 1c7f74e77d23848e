package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// Explain says what an event would be answered, and why. It asks nobody, makes nothing and
// records nothing. The error is one of the files that hold here, which blocks every call.
func Explain(ctx context.Context, o Options, event []byte) (answer explain.Answer, err error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	a := &answering{Options: o, began: o.Clock(), looking: true}
	e, err := o.Agent.Read(event)
	if err != nil {
		return answer, err
	}
	want, broken := o.Agent.Call(e)
	if broken != nil {
		want.Call = policy.Call{Connector: a.Agent.Name, Tool: e.Tool, Arguments: e.Input}
	}
	user, err := config.ReadUser(o.Places.Config)
	if err != nil {
		return answer, err
	}
	d := &evaluator{clock: o.Clock}
	if d.store, err = a.existingStore(ctx, user.User); err != nil {
		return answer, err
	}
	d.opened = func() (*store.Store, error) { return d.store, nil }
	defer func() { err = errors.Join(err, d.close()) }()
	if err := d.prepare(ctx, a, e, want, user, broken); err != nil {
		return answer, err
	}
	var rules *policy.RuleSet
	if d.store != nil {
		if rules, err = d.store.Rules(ctx); err != nil {
			return answer, err
		}
	}
	if want.Call.Arguments, err = canonical.Arguments(want.Call.Arguments); err != nil {
		return explain.Failed(err), nil
	}
	if answer, ok, err := a.lookOnStage(ctx, d, e, want); ok || err != nil {
		return answer, err
	}
	holds := policy.Policy{Rules: rules, Fixed: d.setup.Rules, Mode: d.mode(ctx)}
	judge := explain.Explainer{Tools: d.tools, Policy: holds, Team: d.setup.Team(), Project: d.setup.Scope, Clock: o.Clock}
	kept := policy.RulesIn(rules.Rules(), d.setup.Scope)
	judge.Hosts = d.setup.Shell.Network.Words(slices.Concat(kept, d.setup.Rules.Rules()))
	answer = judge.Judge(ctx, want.Call)
	answer.For, answer.Policy = o.Agent.Name, Policy(d.setup)
	if answer.Outcome == explain.Ask {
		err = a.asks(ctx, d, e, &answer)
	}
	return answer, err
}

// lookOnStage says what would become of a command that runs on the stage; not ok if it would not.
func (a *answering) lookOnStage(ctx context.Context, d *evaluator, e agents.Event,
	want agents.Want) (answer explain.Answer, ok bool, err error) {
	if a.Look == nil || d.setup.Person.Hook.Shell != config.HookStage || !a.Agent.CanReplace(e, want) {
		return answer, false, nil
	}
	var in struct{ Command, Cwd string }
	if err := json.Unmarshal(want.Call.Arguments, &in); err != nil {
		return answer, false, err
	}
	// The desk's is for commands that nothing holds.
	held, err := setup.Resolve(ctx, setup.Order{Places: a.Places, Dir: d.project, Default: true, NoSandbox: a.noSandbox})
	if err != nil {
		return answer, false, err
	}
	if answer, ok, err = a.Look(ctx, held, in.Command, in.Cwd); !ok || err != nil {
		return answer, ok, err
	}
	answer.For = a.Agent.Name
	if answer.Outcome == explain.Ask {
		err = a.asks(ctx, d, e, &answer)
	}
	return answer, true, err
}

// mode is who answers, with the master switch of the store counted in.
func (d *evaluator) mode(ctx context.Context) policy.Mode {
	mode := d.setup.Mode()
	if d.store == nil || mode != policy.ModeAsk {
		return mode
	}
	if on, err := d.store.Approvals(ctx); err == nil && !on {
		return policy.ModeApproveAll
	}
	return mode
}

// asks says where the question would be put; where it cannot be, it is a denial.
func (a *answering) asks(ctx context.Context, d *evaluator, e agents.Event, answer *explain.Answer) error {
	who, open := d.setup.Person.Hook.Ask, false
	if d.store != nil {
		var err error
		if open, err = d.inboxOpen(ctx); err != nil {
			return err
		}
	}
	reserved := func(s policy.Step) bool { return s.Look == "deciders" && s.Found == "reserved" }
	switch {
	case slices.ContainsFunc(answer.Trace, reserved): // in observe mode too, as the hook does
		answer.Where = "the people that the team's policy names"
	case a.Observe || d.setup.Person.Hook.Observe:
		answer.Where = "nowhere: assent only observes"
	case open && who != "deny":
		answer.Where = "in the inbox"
	case a.leavesToPrompt(e, who, answer.PersonOnly):
		answer.Where = "at the prompt of " + a.Agent.Title
	default:
		answer.Outcome = explain.Deny
		answer.Why = fmt.Sprintf("it needs approval, and no inbox is open to ask: %s", answer.Why)
	}
	return nil
}

// existingStore opens the store for who changes nothing; nil if there is none.
func (a *answering) existingStore(ctx context.Context, user *config.User) (*store.Store, error) {
	if !store.Made(a.Places.State) {
		return nil, nil
	}
	return a.openStore(ctx, user)
}
