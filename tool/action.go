package tool

import (
	"context"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// A Do does what an action says. It returns the tool's result: a string, or a
// value that is given to the model as JSON.
//
// If it finds at the last instant that what was shown no longer holds, it does
// nothing and returns an error that wraps [approval.ErrChanged]; the call is
// then judged and asked again.
type Do func(ctx context.Context) (any, error)

// An Action is what one call would do, and the means to do it. Only [Call] and
// its relatives can run it, behind the gate. The zero Action is refused.
//
// Actions are values: the methods return changed copies.
type Action struct {
	do      Do
	verdict policy.Verdict
	why     string
	acts    []policy.Act
	view    func(context.Context) (present.View, error)
	summary string
	state   policy.Digest
	dir     string
	env     []string
	profile policy.Digest
	held    func() []string
	choices []approval.Choice
	edit    approval.Editable
	yesOrNo bool
	wait    *approval.Wait

	once, noSession, noAlways, person bool
}

// Free returns an action that runs without an answer, unless it is denied.
func Free(do Do) Action { return Action{do: do, verdict: policy.VerdictFree} }

// Ask returns an action that needs an answer.
func Ask(do Do) Action { return Action{do: do, verdict: policy.VerdictAsk} }

// Block returns an action that nobody can approve, and says why; without a
// reason it is "blocked by policy".
func Block(why string) Action {
	if why == "" {
		why = blockedByPolicy
	}
	return Action{verdict: policy.VerdictBlock, why: why}
}

const blockedByPolicy = "blocked by policy"

// Doing returns the action as one that is done in another way.
func (a Action) Doing(do Do) Action {
	a.do = do
	return a
}

// On returns the action as one that consists of these acts, each with a verdict
// of its own. An action without acts is one act with the name of the tool, and
// the digest of the arguments as its target.
func (a Action) On(acts ...policy.Act) Action {
	a.acts = slices.Clone(acts)
	return a
}

// OnTarget returns the action as a single act of the tool on the target, with
// the action's own verdict.
func (a Action) OnTarget(t policy.Target) Action {
	return a.On(policy.Act{Target: t, Known: true, Verdict: a.verdict})
}

// Because returns the action with the reason for its verdict. An act that has a
// reason of its own keeps it.
func (a Action) Because(why string) Action {
	a.why = why
	return a
}

// Titled returns the action with a summary of one line for the person.
func (a Action) Titled(summary string) Action {
	a.summary = summary
	return a
}

// Showing returns the action with what the person is shown. The function is
// called only when somebody is about to look.
func (a Action) Showing(view func(context.Context) (present.View, error)) Action {
	a.view = view
	return a
}

// ShowingView returns the action with a view that is there already.
func (a Action) ShowingView(v present.View) Action {
	return a.Showing(func(context.Context) (present.View, error) { return v, nil })
}

// Seeing returns the action bound to the state that its view is built from,
// such as the file before a diff. If the state is another when the call is about
// to run, it is asked again.
func (a Action) Seeing(state policy.Digest) Action {
	a.state = state
	return a
}

// In returns the action as one that runs in a folder, with the environment
// variables of these names passed on.
func (a Action) In(dir string, env ...string) Action {
	a.dir, a.env = dir, slices.Clone(env)
	return a
}

// Under returns the action as one that runs under the sandbox profile with this
// digest.
func (a Action) Under(profile policy.Digest) Action {
	a.profile = profile
	return a
}

// HeldTo returns the action with words about what the system holds it to. The function is
// called only when somebody asks.
func (a Action) HeldTo(words func() []string) Action {
	a.held = words
	return a
}

// OncePerSession returns the action as one where a yes is a grant for exactly
// these acts in this session.
func (a Action) OncePerSession() Action {
	a.once = true
	return a
}

// NeverForSession returns the action as one whose answer holds only once.
func (a Action) NeverForSession() Action {
	a.noSession, a.noAlways = true, true
	return a
}

// NeverAlways returns the action as one that no rule is saved from.
func (a Action) NeverAlways() Action {
	a.noAlways = true
	return a
}

// OnlyByPerson returns the action as one that nothing remembered and no mode answers.
func (a Action) OnlyByPerson(why string) Action {
	if a.verdict != policy.VerdictBlock && len(a.acts) == 0 {
		a.verdict, a.why = policy.VerdictAsk, why
	}
	a.person = true
	return a.mapActs(func(act policy.Act) policy.Act {
		if act.Verdict != policy.VerdictBlock {
			act.Verdict, act.Why = policy.VerdictAsk, why
		}
		return act
	})
}

// Offering returns the action with further answers that it understands. Its Do
// finds the chosen one with [Running.Choice].
func (a Action) Offering(choices ...approval.Choice) Action {
	a.choices = slices.Clone(choices)
	return a
}

// Editing returns the action with the argument that a person may edit as text,
// in a file with this suffix.
func (a Action) Editing(argument, suffix string) Action {
	a.edit = approval.Editable{Argument: argument, Suffix: suffix}
	return a
}

// YesOrNo returns the action as one that can neither be changed nor answered in its place.
func (a Action) YesOrNo() Action {
	a.yesOrNo = true
	return a
}

// AwaitedBy returns the action as one whose answer a call waits for that runs.
func (a Action) AwaitedBy(w *approval.Wait) Action {
	a.wait = w
	return a
}

// mapActs returns the action with every act changed by f.
func (a Action) mapActs(f func(policy.Act) policy.Act) Action {
	a.acts = slices.Clone(a.acts)
	for i := range a.acts {
		a.acts[i] = f(a.acts[i])
	}
	return a
}

// proposal says what the action would do, for a call of the tool.
func (a Action) proposal(s *toolState, args []byte) approval.Proposal {
	return approval.Proposal{
		Definition: s.definition, Arguments: policy.DigestOf(args), Acts: a.namedActs(s.spec, args),
		Summary: a.summary, View: safely(a.view),
		State: a.state, Dir: a.dir, Env: a.env, Profile: a.profile, Held: a.held, Once: a.once,
		NoSession: a.noSession, NoAlways: a.noAlways, Choices: a.choices, Edit: a.edit,
		YesOrNo: a.yesOrNo, Wait: a.wait,
	}
}

// namedActs returns the acts, with the tool's name and the action's reason where
// they have none. Without the means to do anything every act is blocked.
func (a Action) namedActs(s Spec, args []byte) []policy.Act {
	acts := slices.Clone(a.acts)
	if len(acts) == 0 && (a.do != nil || a.why != "") {
		acts = []policy.Act{{Target: policy.ArgumentsTarget(args), Known: true, Verdict: a.verdict}}
	}
	for i := range acts {
		act := &acts[i]
		if act.Name == "" {
			act.Name, act.Connector = s.Name, s.Connector
		}
		if act.Why == "" && act.Verdict == a.verdict {
			act.Why = a.why
		}
		act.PersonOnly = act.PersonOnly || a.person
		if a.do == nil {
			act.Verdict = policy.VerdictBlock
		}
	}
	return acts
}

// safely returns the view as one that fails where it would panic: whoever
// builds it may be saving a batch, far from the tool.
func safely(view func(context.Context) (present.View, error)) func(context.Context) (present.View, error) {
	if view == nil {
		return nil
	}
	return func(ctx context.Context) (v present.View, err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("building the view panicked: %v", r)
			}
		}()
		return view(ctx)
	}
}

type callKey struct{}

func withCall(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, callKey{}, id)
}

// CallID returns the id of the call, in the context that a [Do] is given and in
// that of the last [Tool.Prepare] before it; empty in any other. A tool whose calls
// are suspended tells them apart by it.
func CallID(ctx context.Context) string {
	id, _ := ctx.Value(callKey{}).(string)
	return id
}
