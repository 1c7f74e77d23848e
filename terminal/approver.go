package terminal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// An Approver asks at a terminal. One prompt is open at a time; others wait for it. It is
// safe for concurrent use. Make one with [New] or [NewWith].
type Approver struct {
	cfg Config

	screen chan struct{} // holds a token while a prompt is open

	mu      sync.Mutex
	covers  Coverer
	err     error    // why nobody is asked any more
	history []string // what was decided here, a line each
	lines   *lineReader
}

var _ approval.BatchApprover = (*Approver)(nil)

// maxHistory is how many decisions an approver keeps for h.
const maxHistory = 500

// New returns an approver that asks at standard input and standard error.
func New() *Approver { return NewWith(Config{}) }

// NewWith returns an approver that works with a config.
func NewWith(cfg Config) *Approver {
	return &Approver{cfg: cfg.withDefaults(), screen: make(chan struct{}, 1)}
}

// Use lets prompts say which other waiting requests a lasting answer settles. It is apart
// from [Config] because the gate needs the approver first.
func (a *Approver) Use(c Coverer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.covers = c
}

// Err returns nil, or why the approver asks no more: an error that matches [ErrStopped] or
// [ErrInterrupted].
func (a *Approver) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// Approve asks about one request and returns the answer.
func (a *Approver) Approve(ctx context.Context, r *approval.Request) (approval.Decision, error) {
	d := &single{request: r}
	if err := a.ask(ctx, d); err != nil && d.decision == nil {
		return approval.Decision{}, err
	}
	if d.decision == nil {
		return r.Dismiss(), nil
	}
	return *d.decision, nil
}

// ApproveBatch asks about everything that b has pending, until nothing is. After the
// person stopped the run what is left is denied, after an interruption it is dismissed;
// the error then matches [ErrStopped] or [ErrInterrupted], here and for every later batch.
func (a *Approver) ApproveBatch(ctx context.Context, b *approval.Batch) error {
	return a.ask(ctx, b)
}

// ask waits for the screen, asks, and sees to what was left.
func (a *Approver) ask(ctx context.Context, d Questions) error {
	select {
	case a.screen <- struct{}{}:
		defer func() { <-a.screen }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := a.Err(); err != nil {
		return a.leave(ctx, d, err)
	}
	if len(d.Pending()) == 0 {
		return nil
	}
	ctx, done, ok := awaited(ctx, d.Pending())
	if !ok {
		return errNotAwaited
	}
	defer done()
	defer a.cfg.Status.pause()()
	how, err := a.prompt(ctx, d)
	if ctx.Err() != nil {
		if cause := context.Cause(ctx); !errors.Is(cause, errNotAwaited) {
			return cause
		}
		for _, r := range d.Pending() {
			fmt.Fprintf(a.cfg.Out, "• not answered in time: %s; you are asked again if it is tried again\n",
				present.SafeLine(r.Summary))
		}
		return errNotAwaited
	}
	switch {
	case how.stopped:
		err = &StoppedError{Request: how.request, Note: how.note}
	case how.interrupted:
		err = fmt.Errorf("%w: %s", ErrInterrupted, how.note)
	case err == nil:
		return nil
	default:
		err = fmt.Errorf("%w: %w", ErrInterrupted, err)
	}
	a.close(err)
	return a.leave(ctx, d, err)
}

// errNotAwaited says that the call has ended that a question came up in.
var errNotAwaited = errors.New("the call that waited for the answer has ended; the question stays in the inbox")

// awaited returns a context that ends when nothing waits for an answer any more that is asked
// for here. It is not ok if that is so already; otherwise done is called when nothing is shown
// any more.
func awaited(ctx context.Context, pending []*approval.Request) (_ context.Context, done func(), ok bool) {
	if slices.ContainsFunc(pending, func(r *approval.Request) bool { return r.Wait() == nil }) {
		return ctx, func() {}, true // one waits for as long as it takes
	}
	ctx, cancel := context.WithCancelCause(ctx)
	gone := []func(){func() { cancel(nil) }}
	var waits []*approval.Wait
	for _, r := range pending {
		if shown, awaited := r.Wait().Show(); awaited {
			waits, gone = append(waits, r.Wait()), append(gone, shown)
		}
	}
	done = func() {
		for _, f := range gone {
			f()
		}
	}
	if len(waits) == 0 {
		done()
		return ctx, nil, false
	}
	go func() {
		for _, w := range waits {
			select {
			case <-w.Over():
			case <-ctx.Done():
				return
			}
		}
		cancel(errNotAwaited)
	}()
	return ctx, done, true
}

// close makes the approver ask no more.
func (a *Approver) close(err error) {
	a.mu.Lock()
	a.err = err
	a.mu.Unlock()
	if a.cfg.Stop != nil {
		a.cfg.Stop(err)
	}
}

// leave denies or dismisses what is still pending, and returns the error.
func (a *Approver) leave(ctx context.Context, d Questions, why error) error {
	var stopped *StoppedError
	for _, r := range d.Pending() {
		answer := r.Dismiss()
		if errors.As(why, &stopped) {
			answer = r.Deny("the person stopped the run")
			answer.Stop = true
			if stopped.Request.ID == r.ID && stopped.Note != "" {
				answer.Note = stopped.Note
			}
		}
		answer.By = a.cfg.Who
		// An error means that somebody else answered in between.
		_ = d.Resolve(context.WithoutCancel(ctx), answer)
	}
	return why
}

// prompt asks with whatever the terminal can show.
func (a *Approver) prompt(ctx context.Context, d Questions) (end, error) {
	w := a.newWork(ctx, d)
	if a.cfg.drawn() {
		return w.draw()
	}
	return w.talk()
}

func (a *Approver) remember(l line) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.history = append(a.history, l.String())
	if len(a.history) > maxHistory {
		a.history = a.history[1:]
	}
}

// single is the desk of one request whose answer goes back to the caller.
type single struct {
	request  *approval.Request
	mu       sync.Mutex
	decision *approval.Decision
}

func (s *single) Pending() []*approval.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.request.Done():
		return nil
	default:
	}
	if s.decision != nil {
		return nil
	}
	return []*approval.Request{s.request}
}

func (s *single) Resolve(_ context.Context, decisions ...approval.Decision) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range decisions {
		s.decision = &d
	}
	return nil
}

func (s *single) Outcomes() []approval.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.decision == nil {
		return nil
	}
	state := policy.StateDenied
	switch s.decision.Answer {
	case approval.AnswerApprove:
		state = policy.StateApproved
	case approval.AnswerRespond:
		state = policy.StateAnswered
	case approval.AnswerDismiss:
		state = policy.StateDismissed
	}
	if s.decision.Arguments != nil {
		return nil // changed: whoever asked asks again
	}
	return []approval.Outcome{{Request: s.request.ID, State: state, Decision: s.decision}}
}
