package main

import (
	"context"
	"sync"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/term"
	"github.com/assent-dev/assent/internal/worker"
)

// A progress is a recorder that shows on the status line which call runs and what it prints,
// and hands every event on.
type progress struct {
	next   approval.Recorder
	status *term.Status // may be nil

	mu   sync.Mutex
	call string // the one that runs
	task *term.Task
}

// Record implements [approval.Recorder].
func (p *progress) Record(ctx context.Context, e approval.Event) error {
	if err := p.next.Record(ctx, e); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case e.Kind == approval.Started:
		p.task.Done() // of a call that is judged again there is no end
		p.call, p.task = e.CallID, p.status.Start(eventName(e))
	case e.CallID == p.call:
		p.task.Done()
		p.call, p.task = "", nil
	}
	return nil
}

// Write takes what the call that runs prints; the last line of it is shown.
func (p *progress) Write(output []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.task.Write(output)
}

// close takes the line away.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.task.Done()
}

// A thinking model shows on the status line that it is asked.
type thinking struct {
	worker.Model
	status *term.Status // may be nil
}

// Next implements [worker.Model].
func (m thinking) Next(ctx context.Context, message string, steps []worker.Step) (worker.Turn, error) {
	task := m.status.Start("the model thinks")
	defer task.Done()
	return m.Model.Next(ctx, message, steps)
}
