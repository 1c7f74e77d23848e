package gateway

import (
	"context"
	"fmt"
	"sync"

	"github.com/assent-dev/assent/approval"
)

// A Later records how calls ended without letting anybody wait for it. That a call starts
// is recorded before it does, as ever; if the program dies before the end is recorded, the
// call counts as one whose end was not seen, which is true for whoever reads the log.
type Later struct {
	next approval.DetailRecorder
	over sync.WaitGroup

	mu     sync.RWMutex // held by who sends, so that none does after the end
	closed bool
	queue  chan approval.Event
}

// maxLater is how many ends may wait before callers do.
const maxLater = 1000

// NewLater returns a recorder in front of another. Fail hears of what could not be
// recorded and must not record. Close it before the other.
func NewLater(next approval.DetailRecorder, fail func(error)) *Later {
	l := &Later{next: next, queue: make(chan approval.Event, maxLater)}
	l.over.Go(func() {
		for e := range l.queue {
			if err := next.RecordFull(context.Background(), e); err != nil {
				fail(fmt.Errorf("the end of %s could not be recorded: %w", e.Tool, err))
			}
		}
	})
	return l
}

var _ approval.DetailRecorder = (*Later)(nil)

// Record implements [approval.Recorder].
func (l *Later) Record(ctx context.Context, e approval.Event) error { return l.RecordFull(ctx, e) }

// RecordFull implements [approval.DetailRecorder].
func (l *Later) RecordFull(ctx context.Context, e approval.Event) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed || e.Kind != approval.Ended || e.Stage != approval.StageCompleted {
		return l.next.RecordFull(ctx, e)
	}
	l.queue <- e
	return nil
}

// Close records what waits. After it everything is recorded at once.
func (l *Later) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.queue)
	}
	l.mu.Unlock()
	l.over.Wait()
	return nil
}
