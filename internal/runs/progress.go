package runs

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/terminal"
)

// A Progress is a recorder that shows on the status line which call runs and what it prints,
// and hands every event on.
type Progress struct {
	next   approval.DetailRecorder
	status *terminal.Status // may be nil

	mu   sync.Mutex
	call string // the one that runs
	task *terminal.Task
}

// NewProgress returns a recorder before another. Status may be nil.
func NewProgress(next approval.DetailRecorder, status *terminal.Status) *Progress {
	return &Progress{next: next, status: status}
}

// Record implements [approval.Recorder].
func (p *Progress) Record(ctx context.Context, e approval.Event) error { return p.RecordFull(ctx, e) }

// RecordFull implements [approval.DetailRecorder].
func (p *Progress) RecordFull(ctx context.Context, e approval.Event) error {
	if err := p.next.RecordFull(ctx, e); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case e.Kind == approval.EventConfined, e.Kind == approval.EventUnexpected, e.Kind == approval.EventTripped:
		p.status.Aside(func() { fmt.Fprintf(os.Stderr, "assent: %s\n", present.SafeLine(e.Why)) })
	case e.Kind == approval.EventConnected && e.Error != "" && !e.State.Runs():
		p.status.Aside(func() {
			fmt.Fprintf(os.Stderr, "assent: connection to %s refused: %s\n",
				present.SafeLine(e.Host+":"+e.Port), present.SafeLine(e.Error))
		})
	case e.Kind == approval.EventConnected:
	case strings.HasPrefix(e.CallID, p.call+".") && p.call != "": // a part of the call that runs
	case e.Kind == approval.EventStarted:
		p.task.Done() // of a call that is judged again there is no end
		p.call, p.task = e.CallID, p.status.Start(eventName(e))
	case e.CallID == p.call:
		p.task.Done()
		p.call, p.task = "", nil
	}
	return nil
}

// Write takes what the call that runs prints; the last line of it is shown.
func (p *Progress) Write(output []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.task.Write(output)
}

// close takes the line away.
func (p *Progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.task.Done()
}

// A thinking model shows on the status line that it is asked, until it says something.
type thinking struct {
	worker.Talker
	status *terminal.Status // may be nil
}

// Talk implements [worker.Talker].
func (m thinking) Talk(ctx context.Context, p worker.Prompt, l worker.Listener) (worker.Turn, error) {
	heard := &hearing{status: m.status, next: l}
	heard.wait()
	defer heard.quiet()
	return m.Talker.Talk(ctx, p, heard)
}

// A hearing takes the status line away before something is printed.
type hearing struct {
	status *terminal.Status
	next   worker.Listener // may be nil
	task   *terminal.Task
}

func (h *hearing) wait() { h.task = h.status.Start("waiting for the model") }

func (h *hearing) quiet() {
	h.task.Done()
	h.task = nil
}

// Text implements [worker.Listener].
func (h *hearing) Text(piece string) {
	h.quiet()
	if h.next != nil {
		h.next.Text(piece)
	}
}

// Again implements [worker.Listener].
func (h *hearing) Again(after time.Duration, why error) {
	h.quiet()
	if h.next != nil {
		h.next.Again(after, why)
	}
	h.wait()
}
