package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/foreign"
	"github.com/assent-dev/assent/internal/agents/staged"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/shell/inside"
)

// judge decides about a command. What must be asked is asked in the inbox if one is open, else it
// is left to the agent's own prompt, else it waits or is denied.
func (k *keeper) judge(ctx context.Context, q staged.Question) (staged.Verdict, error) {
	var in struct{ Command, Cwd string }
	if err := json.Unmarshal(q.Call.Arguments, &in); err != nil {
		return staged.Verdict{}, err
	}
	args, err := foreign.Located(k.box.Roots, in.Command, in.Cwd)
	if err != nil {
		return staged.Verdict{Reason: err.Error()}, nil
	}
	q.Call.Arguments, q.Call.Session = k.refused.escalated(args), k.Session
	ctx = context.WithValue(ctx, askedKey{}, asked{folder: q.Folder, person: q.Person, wait: q.Wait})
	b, err := agents.Begin(ctx, k.gate.Gate, k.base.Store, q.Call, q.Saved)
	if err != nil {
		return staged.Verdict{}, err
	}
	open, err := agents.InboxOpen(ctx, k.base.Store)
	if err != nil {
		return staged.Verdict{}, err
	}
	prompt := false
	if pending := b.Pending(); len(pending) > 0 {
		switch {
		case open && q.Inbox, pending[0].TeamDecides(): // which no prompt of this machine can
			k.gate.Ask(ctx, b)
		case q.Defer:
			saved, err := agents.Postpone(ctx, k.base.Store, b)
			return staged.Verdict{Saved: saved, Reason: pending[0].Why}, err
		case q.PromptPerson, q.Prompt && !pending[0].PersonOnly:
			prompt = true
		case pending[0].Routing != nil && q.Inbox: // the agent's sponsor may answer from elsewhere
			k.gate.Ask(ctx, b)
		default:
			b.Reject(ctx, agents.Nobody(pending[0], false))
		}
	}
	o := b.Outcome(0)
	if !prompt && !o.Runs() {
		return staged.Verdict{Reason: agents.WhyNot(o)}, nil
	}
	one := &call{batch: b, args: args, person: q.Person, folder: q.Folder, dir: in.Cwd, prompt: prompt}
	v := staged.Verdict{Prompt: prompt, Moves: moves(in.Command)}
	v.Reason = agents.WhyRuns(o)
	if prompt {
		v.Reason = b.Pending()[0].Why
	}
	v.Token = k.calls.add(one, func() { k.expire(b, notInTime) })
	return v, nil
}

const notInTime = "the agent did not run it in time"

// expire ends a call that does not run.
func (k *keeper) expire(b *approval.Batch, why string) {
	ctx := context.Background()
	b.Reject(ctx, why)
	stopped, stop := context.WithCancelCause(ctx)
	stop(errors.New(why))
	_, _ = b.Start(stopped, 0, approval.Proposal{}) // ends it as cancelled, if it could still run
	b.Close()
}

// moves reports whether a command may leave the shell in another folder.
func moves(text string) bool {
	file, err := inside.Parse(text)
	return err != nil || inside.Moves(file)
}

// asked is what a question says beside the call.
type asked struct {
	folder, person string
	wait           time.Duration
}

type askedKey struct{}

func askedIn(ctx context.Context) asked {
	a, _ := ctx.Value(askedKey{}).(asked)
	return a
}

// A command is the shell, with what only a person may allow.
type command struct{ tool.Tool }

// Prepare implements [tool.Tool].
func (c command) Prepare(ctx context.Context, args json.RawMessage) (tool.Action, error) {
	a, err := c.Tool.Prepare(ctx, args)
	if why := askedIn(ctx).person; why != "" && err == nil {
		a = a.OnlyByPerson(why)
	}
	return a, err
}

// Turn implements [tool.TurnTool].
func (c command) Turn(ctx context.Context) context.Context {
	if t, ok := c.Tool.(tool.TurnTool); ok {
		return t.Turn(ctx)
	}
	return ctx
}

// An inbox asks whoever has one open, and the team of a machine that has joined one; otherwise nobody is there.
type inbox struct {
	store *store.Store
	queue approval.Approver
}

// wait is how long an inbox is waited for where the question does not say it: while a command runs.
const wait = 9 * time.Minute

// Approve implements [approval.Approver].
func (i inbox) Approve(ctx context.Context, r *approval.Request) (approval.Decision, error) {
	open, err := agents.InboxOpen(ctx, i.store)
	if err != nil {
		return approval.Decision{}, err
	}
	if !open && r.Routing == nil {
		return approval.Decision{}, errors.New(agents.Nobody(r, false))
	}
	most := askedIn(ctx).wait
	if most <= 0 {
		most = wait
	}
	return approval.Timeout(most, i.queue).Approve(ctx, r)
}
