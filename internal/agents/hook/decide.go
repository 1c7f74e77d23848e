package hook

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/notify"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/store/sessions"
)

// decide answers an event about a call that is about to run.
func (a *answering) decide(ctx context.Context, e agents.Event) (answer agents.Answer, err error) {
	want, broken := a.Agent.Call(e)
	if broken != nil {
		want.Call = policy.Call{Connector: a.Agent.Name, Tool: e.Tool, Arguments: e.Input,
			Session: e.Session, ID: e.CallID}
	}
	if broken == nil {
		if answer, done, err := a.onStage(ctx, e, want); done || err != nil {
			return answer, err
		}
	}
	d, err := a.openEvaluator(ctx, e, want, broken)
	if err != nil {
		return agents.Answer{}, err
	}
	defer func() { err = errors.Join(err, d.leave(a.Exits)) }()
	note, err := a.openMemo(want.Call)
	if err != nil {
		return agents.Answer{}, err
	}
	defer note.close()
	// What a rule answered before does not answer a question that is for a person.
	if known, ok := note.answered(e, a.began); ok && (want.Person == "" || known.Verdict == agents.Deny) {
		return known, note.keep(e, known, a.Clock())
	}
	o, err := a.outcome(ctx, d, e, want.Call, note)
	if err != nil {
		return agents.Answer{}, err
	}
	d.decided = o.State == policy.StateApproved
	answer = a.answerFor(e, want, o)
	answer.Reason = present.Safe(answer.Reason) // it may name what the model chose, and is shown to people
	if a.Observe {
		answer = agents.Answer{Verdict: agents.Nothing}
	}
	note.Undo, note.Replaced = d.undo.stays(o.Call, answer), false
	a.undo = note.Undo
	if answer.Input != nil {
		err = a.noteChanged(e, o.Call, note.Undo)
	}
	return answer, errors.Join(err, note.keep(e, answer, a.Clock()))
}

// noteChanged notes the call that a person made of another one: that is what will run.
func (a *answering) noteChanged(e agents.Event, call policy.Call, undo string) error {
	note, err := a.openMemo(call)
	if err != nil {
		return err
	}
	defer note.close()
	note.Undo = undo
	return note.keep(e, agents.Answer{Verdict: agents.Allow}, a.Clock())
}

// outcome takes the call through the gate. One that may run is released, and recorded so.
// One that is put aside stays pending.
func (a *answering) outcome(ctx context.Context, d *evaluator, e agents.Event, call policy.Call,
	note *memo) (approval.Outcome, error) {
	b, err := a.begin(ctx, d, e, call, note)
	if err != nil {
		return approval.Outcome{}, err
	}
	err = approval.Again(func() (err error) {
		if len(b.Pending()) > 0 && a.defers(ctx, d, e) {
			return note.postpone(ctx, d, b)
		}
		if len(b.Pending()) > 0 {
			if b, err = a.ask(ctx, d, b, e, call); err != nil {
				return err
			}
		}
		if !b.Outcome(0).Runs() {
			return nil
		}
		return b.Release(ctx, 0)
	})
	if err != nil {
		return approval.Outcome{}, err
	}
	return b.Outcome(0), nil
}

// ask gets the pending call answered: by the inbox, by the agent's own prompt, or with a
// no. The batch that it returns is the one that has the answer.
func (a *answering) ask(ctx context.Context, d *evaluator, b *approval.Batch, e agents.Event,
	call policy.Call) (*approval.Batch, error) {
	who := d.setup.Person.Hook.Ask
	open, err := d.inboxOpen(ctx)
	if err != nil {
		return nil, err
	}
	request := b.Pending()[0]
	switch {
	case request.TeamDecides(): // which no prompt and no mode of this machine can
		return a.askInbox(ctx, d, b, call)
	case a.Observe:
		return b, b.HandOver(ctx, request)
	case open && who != "deny":
		return a.askInbox(ctx, d, b, call)
	case a.leavesToPrompt(e, who, request.PersonOnly):
		if why := a.lifted(d, e, call); why != "" {
			b.Reject(ctx, why)
			return b, nil
		}
		return b, b.HandOver(ctx, request)
	case request.Routing != nil && who != "deny": // the agent's sponsor may answer from elsewhere
		return a.askInbox(ctx, d, b, call)
	}
	b.Reject(ctx, agents.Nobody(request, a.prompts(e, request.PersonOnly)))
	return b, nil
}

// prompts reports whether the agent has a prompt for the event that somebody sees, and not a mode
// that may answer it.
func (a *answering) prompts(e agents.Event, personOnly bool) bool {
	return a.Agent.Asks(e) && !e.Unknown && !(e.Unasked && personOnly) && !a.Agent.Unseen(a.Chain, a.Environ)
}

// leavesToPrompt reports whether a question is left to the agent's own prompt.
func (a *answering) leavesToPrompt(e agents.Event, who string, personOnly bool) bool {
	return who != "inbox" && who != "deny" && a.prompts(e, personOnly)
}

// askInbox posts the request where the inbox sees it, and waits. The session is begun,
// so that an answer can be kept for it. A batch that is asked again stays the same.
func (a *answering) askInbox(ctx context.Context, d *evaluator, b *approval.Batch,
	call policy.Call) (*approval.Batch, error) {
	if d.inbox == nil {
		session := sessions.Session{ID: call.Session, Kind: sessions.KindHook, Folder: d.project}
		if err := d.store.BeginSession(ctx, session); err != nil {
			return nil, err
		}
		var err error
		if d.inbox, err = d.gate(d.store, approval.Timeout(a.wait(ctx, d.setup.Person.Hook.Deadline), d.queue())); err != nil {
			return nil, err
		}
		b = d.inbox.Review(ctx, call)
	}
	d.inbox.Ask(ctx, b)
	return b, nil
}

// queue asks whoever answers in another process, and tells the user's own program if that
// takes long.
func (d *evaluator) queue() approval.Approver {
	user := d.setup.Person
	o := notify.Options{Command: user.Notify, After: user.NotifyAfter}
	if user.Webhook.URL != "" {
		o.Webhook = d.setup.Places.Program()
	}
	return notify.Around(approval.Queue(d.store), o)
}

// wait is how long somebody may take to answer.
func (a *answering) wait(ctx context.Context, most time.Duration) time.Duration {
	left := a.deadline()
	if until, ok := ctx.Deadline(); ok {
		left = time.Until(until)
	}
	if most > 0 {
		left = min(left, most)
	}
	return max(left-min(spare, left/5), time.Millisecond)
}

func (d *evaluator) inboxOpen(ctx context.Context) (bool, error) {
	return agents.InboxOpen(ctx, d.store)
}

// gate returns a gate for the call, in front of what is kept.
func (d *evaluator) gate(kept remembering, approver approval.Approver) (*approval.Gate, error) {
	return approval.New(approval.Config{
		Preparer: d.tools, Clock: d.clock, NewID: rand.Text, Project: d.setup.Scope, Mode: d.setup.Mode(), Approver: approver,
		Rules: kept, Grants: kept, Policy: d.setup.Rules, Fixed: d.setup.Newer, Recorder: d.recorder(), Requests: d.store,
		Proofs: proof.Verifier(proof.NewBook(d.store).Key), Team: d.setup.Team(),
		Origin: d.origin,
	})
}

// origin says which agent asks, in which repository: that of the folder that the call came from,
// else the project.
func (d *evaluator) origin(context.Context) approval.Origin {
	if o := setup.Origin(d.agent, d.folder); o.Branch != "" {
		return o
	}
	return setup.Origin(d.agent, d.project)
}

// answerFor says what an agent is told about a call that was answered so.
func (a *answering) answerFor(e agents.Event, want agents.Want, o approval.Outcome) agents.Answer {
	switch {
	case o.Runs() && o.Original == nil:
		return agents.Answer{Verdict: agents.Allow, Reason: agents.WhyRuns(o)}
	case o.Runs():
		input, err := want.Changed(e, o.Call.Arguments)
		if err != nil {
			return agents.Answer{Reason: err.Error()}
		}
		return agents.Answer{Verdict: agents.Allow, Reason: agents.WhyRuns(o), Input: input}
	case o.State == policy.StatePending:
		return agents.Answer{Verdict: agents.Defer, Reason: "assent asks: " + cmp.Or(o.Why, "no rule allows it") +
			"; answer it with 'assent pending', then resume"}
	case o.State == policy.StateHandedOver:
		return agents.Answer{Verdict: agents.Ask, Reason: "assent asks: " + cmp.Or(o.Why, "no rule allows it")}
	}
	return agents.Answer{Reason: agents.WhyNot(o)}
}
