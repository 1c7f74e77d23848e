package approval

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/assent-dev/assent/policy"
)

// ErrNobody says that a call had to be asked and nobody can be.
var ErrNobody = errors.New("the gate has no approver to ask; set one, or choose the mode approve-all or strict")

// Decide reviews the calls, has the approver answer what is pending, and waits
// for that. Every call ends with an answer.
func (g *Gate) Decide(ctx context.Context, calls ...policy.Call) []Outcome {
	b := g.Review(ctx, calls...)
	g.Ask(ctx, b)
	return b.Outcomes()
}

// Ask has the gate's approver answer what the batch has pending, and waits for
// that. What then has no answer is refused: without an approver, after a
// failure, and, as dismissed, when ctx is done.
func (g *Gate) Ask(ctx context.Context, b *Batch) {
	if len(b.Pending()) == 0 {
		return
	}
	err := ErrNobody
	if g.cfg.Approver != nil {
		err = askApprover(ctx, g.cfg.Approver, b)
	}
	for pending := b.Pending(); len(pending) > 0; pending = b.Pending() {
		for _, r := range pending {
			b.leaveOpen(ctx, r, err)
		}
	}
}

// leaveOpen refuses a request that the approver did not answer.
func (b *Batch) leaveOpen(ctx context.Context, r *Request, err error) {
	e, findErr := b.find(r.ID)
	if findErr != nil || !b.take(e) {
		return
	}
	next := draft{outcome: e.outcome, proposal: e.proposal}
	o := &next.outcome
	o.Why = ""
	switch {
	case ctx.Err() != nil:
		o.State = policy.StateDismissed
	case errors.Is(err, ErrNobody) && e.outcome.PersonOnly:
		o.State, o.Why = policy.StateDenied, "only a person may answer this, and no terminal or inbox is open to ask"
	case errors.Is(err, ErrNobody):
		o.State, o.Why = policy.StateDenied, err.Error()
	case err != nil:
		o.State, o.Why = policy.StateDenied, fmt.Sprintf("the approver failed: %v", err)
	default:
		o.State, o.Why = policy.StateDenied, "the approver gave no answer"
	}
	o.Stage = StageAfter(o.State)
	b.gate.settle(ctx, &next)
	b.commit(ctx, e, next)
}

// maxAgain is how often a call is tried while what it acts on keeps changing.
const maxAgain = 10

// ErrKeepsChanging says that a call was given up because [ErrChanged] came up each time that
// it was about to run. It does not match ErrChanged.
var ErrKeepsChanging = fmt.Errorf("what it would act on changed %d times while it was about to run", maxAgain)

// Again calls try until it returns something else than [ErrChanged], which says that the call
// was judged anew and perhaps must be asked again. A world that never holds still is given up
// with [ErrKeepsChanging]. Whoever asks, starts or releases calls loops here and nowhere else.
func Again(try func() error) error {
	for range maxAgain {
		if err := try(); !errors.Is(err, ErrChanged) {
			return err
		}
	}
	return ErrKeepsChanging
}

// A Wait is a call that runs and waits for answers to questions that came up meanwhile. When it
// has ended, such a question stays open, but nobody shows it any more at the place where the call
// was asked for. A nil Wait never ends.
type Wait struct {
	over chan struct{}

	mu    sync.Mutex
	gone  *sync.Cond
	ended bool
	shown int
}

// NewWait returns one that has begun.
func NewWait() *Wait {
	w := &Wait{over: make(chan struct{})}
	w.gone = sync.NewCond(&w.mu)
	return w
}

// Over is closed when the call has ended.
func (w *Wait) Over() <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.over
}

// Show is called before a question is shown; gone when it is not any more. It is not ok if the
// call has ended.
func (w *Wait) Show() (gone func(), ok bool) {
	if w == nil {
		return func() {}, true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return nil, false
	}
	w.shown++
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.shown--
		w.gone.Broadcast()
	}), true
}

// End ends it, and returns when nothing is shown any more.
func (w *Wait) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.ended = true
		close(w.over)
	}
	for w.shown > 0 {
		w.gone.Wait()
	}
}
