package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/present"
)

// Options say how an event is answered.
type Options struct {
	Agent *agents.Agent
	Input io.Reader
	// Places are where assent's own files are.
	Places setup.Places
	// Environ is the environment that the agent's commands see.
	Environ []string
	// Dir is the folder that the agent started the hook in; empty if that says nothing.
	Dir string
	// Chain returns the processes that led to the hook, the nearest first. Nil means that they
	// are not known.
	Chain func() []agents.Process
	// Keeper is the command line that starts the keeper of a session, and Exec that of a program
	// which runs what it judged. Without them commands are judged by their text.
	Keeper, Exec []string
	// Look says what the keeper of a session would say about a command, for [Explain]; nothing
	// holds commands here if it is not ok. Nil explains the text that the agent would run.
	Look func(ctx context.Context, s *setup.Setup, command, dir string) (answer explain.Answer, ok bool, err error)
	// Defer has a run that can be resumed end where somebody must be asked and nobody is
	// there, and go on from the answer.
	Defer bool
	// Observe answers nothing, and records what would have happened.
	Observe bool
	// Deadline is when an event without an answer is denied; 0 means a little less than
	// the agent waits.
	Deadline time.Duration
	// Exits says that the process ends with the reply, so that not everything is closed.
	Exits bool
	// Sandbox says why no sandbox works here, empty if one does; nil means what is noted, after
	// it was tried once. It is asked only where the quiet policy would hold.
	Sandbox func(context.Context) string
	// Clock tells the time; nil means that of the system.
	Clock func() time.Time
}

// maxInput is the largest event that is read.
const maxInput = 16 << 20

// maxChain is how many of the processes that led to the hook are looked at.
const maxChain = 8

// spare is what is left of the deadline for the answer itself, when somebody is asked.
const spare = 2 * time.Second

// Run answers one event. It returns within the deadline, whatever happens.
func Run(ctx context.Context, o Options) agents.Reply {
	return o.run(ctx).Reply
}

// A replied is the reply to an event, and what comes after it.
type replied struct {
	agents.Reply
	observed bool   // config may say so too
	undo     string // the entry that is not on the disk yet; empty for none
}

// run is Run, with what comes after it.
func (o Options) run(ctx context.Context) replied {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.deadline(), fmt.Errorf("there was no answer within %v", o.deadline()))
	defer cancel()
	a := &answering{Options: o, began: o.Clock()}
	done := make(chan agents.Reply, 1)
	go func() { done <- a.safely(ctx) }()
	select {
	case reply := <-done:
		return replied{reply, a.Observe, a.undo}
	case <-ctx.Done():
		return replied{Reply: o.failed(context.Cause(ctx)), observed: o.Observe}
	}
}

// deadline is when an event is denied, after it came.
func (o Options) deadline() time.Duration {
	if o.Deadline > 0 {
		return min(o.Deadline, agents.LongestWait)
	}
	return o.Agent.Patience
}

// failed is the reply to an event that could not be answered.
func (o Options) failed(err error) agents.Reply {
	why := present.Safe(err.Error())
	if o.Observe {
		return agents.Reply{Stderr: "assent: only observed, and not recorded: " + why + "\n"}
	}
	return agents.Blocked(why)
}

// An answering is one event on its way to an answer.
type answering struct {
	Options
	began   time.Time
	looking bool   // nothing is made or kept
	undo    string // the entry that keeps what the call changes
	note    string // for who reads the agent's log, beside the answer
}

// safely turns a panic into a reply that blocks.
func (a *answering) safely(ctx context.Context) (reply agents.Reply) {
	defer func() {
		if r := recover(); r != nil {
			reply = a.failed(fmt.Errorf("the hook panicked: %v", r))
		}
	}()
	reply, err := a.answer(ctx)
	if err != nil {
		return a.failed(err)
	}
	return reply
}

func (a *answering) answer(ctx context.Context) (agents.Reply, error) {
	data, err := io.ReadAll(io.LimitReader(a.Input, maxInput+1))
	if err != nil {
		return agents.Reply{}, fmt.Errorf("the input cannot be read: %w", err)
	}
	if len(data) > maxInput {
		return agents.Reply{}, fmt.Errorf("the input is larger than %d bytes", maxInput)
	}
	e, err := a.Agent.Read(data)
	if err != nil {
		return agents.Reply{}, err
	}
	if ctx.Err() != nil { // it was denied already, and nothing is begun for it
		return agents.Reply{}, context.Cause(ctx)
	}
	switch e.Moment {
	case agents.Before, agents.Asking:
		answer, err := a.decide(ctx, e)
		if err != nil {
			return agents.Reply{}, err
		}
		reply := a.Agent.Reply(e, answer)
		if a.note != "" {
			reply.Stderr = "assent: " + present.SafeLine(a.note) + "\n"
		}
		return reply, nil
	case agents.After:
		err = a.compare(ctx, e)
	case agents.Ending:
		err = a.end(ctx, e)
	default:
		err = errors.New("unknown hook event")
	}
	reply := a.Agent.Reply(e, agents.Answer{Verdict: agents.Nothing})
	if err != nil { // the tool has run: there is nothing to block
		reply.Stderr, reply.Exit = "assent: "+err.Error()+"\n", 1
	}
	return reply, nil
}
