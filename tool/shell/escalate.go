package shell

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
)

// escalation is the name of the act of leaving the sandbox. No rule can name it, and only a
// person answers it, each time.
const escalation = "sandbox_escalation"

// Steps are the ways out of a sandbox.
type Steps interface {
	// Failed returns how the command last failed because of the sandbox, and the
	// steps that would let it pass, the smallest first. Not ok means that it did
	// not; no steps mean that nothing can be done.
	Failed(Command) (Failure, bool)
}

// A Failure is a command that ran and was refused something by the sandbox.
type Failure struct {
	ExitCode int
	// Said is the end of what it printed.
	Said string
	// Refused are what the sandbox refused, a line each.
	Refused []string
	Steps   []Step
}

// A Step is one way out: what is asked for, in words that follow "let it".
type Step struct {
	ID, Label string
}

// escalating are the arguments where a person may be asked to let a command out.
type escalating struct {
	Command  string  `json:"command" jsonschema:"the command, for bash"`
	Timeout  float64 `json:"timeout,omitempty" jsonschema:"seconds after which it is ended; default 120"`
	Cwd      string  `json:"cwd,omitempty" jsonschema:"the folder to run in, as ROOT/PATH; default is the working folder"`
	Keep     bool    `json:"keep_output,omitempty" jsonschema:"keep the whole output in a file and return its name"`
	End      bool    `json:"end_background,omitempty" jsonschema:"first end what earlier commands left running in the background"`
	Escalate bool    `json:"escalate,omitempty" jsonschema:"only after this command failed because of the sandbox: ask the person to let it reach what was refused"`
}

// escalate returns the action as one that asks a person, whoever may answer the rest, to
// let the command out of the sandbox.
func (t *Tool) escalate(j judged) (tool.Action, error) {
	wrong := func(text string) (tool.Action, error) {
		return tool.Action{}, &tool.ArgumentError{Tool: "shell", Field: "escalate", Err: errors.New(text)}
	}
	if t.opts.Steps == nil {
		return wrong("no terminal or inbox is open to ask about leaving the sandbox")
	}
	failure, failed := t.opts.Steps.Failed(j.cmd)
	switch {
	case !failed:
		return wrong("the sandbox has blocked nothing in this command; run it without escalate first")
	case len(failure.Steps) == 0:
		return wrong("what was blocked is protected and is always blocked: " + strings.Join(failure.Refused, "; "))
	}
	first := failure.Steps[0]
	acts := append(j.acts, policy.Act{
		Name: escalation, Target: policy.TextTarget(first.Label), Known: true, Dir: j.acts[0].Dir,
		Verdict: policy.VerdictAsk, PersonOnly: true, Why: "it would leave the sandbox: " + first.Label,
	})
	return j.On(acts...).Titled(fmt.Sprintf("Leave the sandbox: %s, for: %s", first.Label, firstLine(j.cmd.Text))).
		ShowingView(failure.view(view(j.script, j.dirPlace))).NeverForSession().Offering(failure.choices()...).
		Doing(func(ctx context.Context) (any, error) {
			cmd := j.cmd
			if cmd.Step = tool.RunningIn(ctx).Choice(); cmd.Step == "" {
				cmd.Step = first.ID
			}
			return t.run(ctx, cmd, j.judging)
		}), nil
}

func (f Failure) choices() []approval.Choice {
	var out []approval.Choice
	for _, s := range f.Steps {
		out = append(out, approval.Choice{ID: s.ID, Label: s.Label})
	}
	return out
}

// view shows the command, and that it ran before: it may have had effects.
func (f Failure) view(v present.View) present.View {
	v.Facts = append(v.Facts, present.TextFact("ran before", fmt.Sprintf("inside the sandbox, with exit code %d; "+
		"what it changed stays changed", f.ExitCode)))
	v.Facts = append(v.Facts, present.TextFact("refused", strings.Join(f.Refused, "\n")))
	if f.Said != "" {
		v.Facts = append(v.Facts, present.TextFact("it said", f.Said))
	}
	return v
}
