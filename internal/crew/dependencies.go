package crew

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// partMark stands in the id of a sub-call between that of its parent and its number.
const partMark = "#share-"

func partID(parent string, n int) string { return fmt.Sprintf("%s%s%d", parent, partMark, n) }

// Dependencies ends the calls whose sub-calls were refused, so that nobody is asked about them. It
// stands between a gate, its approver and its recorder. The zero Dependencies are ready.
type Dependencies struct {
	mu      sync.Mutex
	batches []*approval.Batch // that are being asked
	refused map[string]string // what was refused, by call
}

// Approver returns the approver as one that is watched.
func (t *Dependencies) Approver(next approval.Approver) approval.BatchApprover {
	return watched{dependencies: t, BatchApprover: approval.First(next)}
}

type watched struct {
	dependencies *Dependencies
	approval.BatchApprover
}

// ApproveBatch implements [approval.BatchApprover].
func (w watched) ApproveBatch(ctx context.Context, b *approval.Batch) error {
	w.dependencies.add(b)
	defer w.dependencies.remove(b)
	w.dependencies.Settle(ctx, b)
	return w.BatchApprover.ApproveBatch(ctx, b)
}

func (t *Dependencies) add(b *approval.Batch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.batches = append(t.batches, b)
}

func (t *Dependencies) remove(b *approval.Batch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.batches = slices.DeleteFunc(t.batches, func(o *approval.Batch) bool { return o == b })
}

// Recorder returns the recorder as one that hears of refusals: the end of a call is
// recorded before the next question can be shown.
func (t *Dependencies) Recorder(next approval.DetailRecorder) approval.DetailRecorder {
	return listening{t, next}
}

type listening struct {
	dependencies *Dependencies
	next         approval.DetailRecorder
}

// Record implements [approval.Recorder].
func (l listening) Record(ctx context.Context, e approval.Event) error { return l.RecordFull(ctx, e) }

// RecordFull implements [approval.DetailRecorder].
func (l listening) RecordFull(ctx context.Context, e approval.Event) error {
	if err := l.next.RecordFull(ctx, e); err != nil {
		return err
	}
	if e.Kind == approval.EventEnded && e.Tool == policy.ActShareFile && !e.State.Runs() {
		l.dependencies.refuse(ctx, e)
	}
	return nil
}

// callKey names a call of a chain of workers.
func callKey(workers []string, id string) string {
	return strings.Join(append(slices.Clone(workers), id), "\x00")
}

// refuse notes that a share was refused, and denies the call that it belongs to if that
// waits.
func (t *Dependencies) refuse(ctx context.Context, e approval.Event) {
	parent, _, isPart := strings.Cut(e.CallID, partMark)
	if !isPart {
		return
	}
	t.mu.Lock()
	if t.refused == nil {
		t.refused = map[string]string{}
	}
	what := fmt.Sprintf("%s was %s", append(e.Acts, e.Tool)[0], e.State)
	if e.Note != "" {
		what += fmt.Sprintf(" (the person said: %s)", e.Note)
	}
	t.refused[callKey(e.Workers, e.CallID)] = what
	t.refused[callKey(e.Workers, parent)] = what
	batches := slices.Clone(t.batches)
	t.mu.Unlock()
	for _, b := range batches {
		t.Settle(ctx, b)
	}
}

// Settle denies what waits in a batch and lacks a file that was refused.
func (t *Dependencies) Settle(ctx context.Context, b *approval.Batch) {
	for _, r := range b.Pending() {
		what := t.refusedCall(r.Call.Workers, r.Call.ID)
		if what == "" || r.Call.Tool != policy.ActWorkerCall {
			continue
		}
		b.Reject(ctx, what+", so the worker was not called", r)
	}
}

// refusedCall says which share was refused: this one, or one of the call; empty for none.
func (t *Dependencies) refusedCall(workers []string, id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refused[callKey(workers, id)]
}

// forget begins a new turn of a chain of workers: ids may be used again.
func (t *Dependencies) forget(workers []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	prefix := callKey(workers, "")
	for key := range t.refused {
		if strings.HasPrefix(key, prefix) {
			delete(t.refused, key)
		}
	}
}
