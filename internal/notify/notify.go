package notify

import (
	"context"
	"time"

	"github.com/assent-dev/assent/approval"
)

// DefaultAfter is how long a request waits before the program is started.
const DefaultAfter = 10 * time.Second

// Options say who is told, and when.
type Options struct {
	// Command is the program with its arguments; empty tells nobody.
	Command []string
	// Webhook is assent itself, which then sends the user's webhook; empty sends none.
	Webhook string
	// After is how long a request waits before that; zero means [DefaultAfter].
	After time.Duration
}

// Around returns an approver that asks a, and tells the program of what waits for long.
func Around(a approval.Approver, o Options) approval.Approver {
	var told []*program
	add := func(command ...string) {
		told = append(told, &program{command: command, running: make(chan struct{}, Most)})
	}
	if len(o.Command) > 0 {
		add(o.Command...)
	}
	if o.Webhook != "" {
		add(o.Webhook, WebhookCommand)
	}
	if a == nil || len(told) == 0 {
		return a
	}
	if o.After <= 0 {
		o.After = DefaultAfter
	}
	return watched{approval.First(a), told, o.After}
}

// WebhookCommand is the command of assent that reads a notice from standard input and sends the webhook.
const WebhookCommand = "notify-webhook"

type watched struct {
	inner approval.BatchApprover
	told  []*program
	after time.Duration
}

// Approve implements [approval.Approver].
func (w watched) Approve(ctx context.Context, r *approval.Request) (approval.Decision, error) {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	go w.wait(watching, r)
	return w.inner.Approve(ctx, r)
}

// ApproveBatch implements [approval.BatchApprover].
func (w watched) ApproveBatch(ctx context.Context, b *approval.Batch) error {
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	go w.watch(watching, b)
	return w.inner.ApproveBatch(ctx, b)
}

// watch waits with every request of a batch, also with those that take the place of
// others. It ends when nothing is pending.
func (w watched) watch(ctx context.Context, b *approval.Batch) {
	seen := map[string]bool{}
	ended := make(chan struct{}, 1)
	for {
		pending := b.Pending()
		if len(pending) == 0 {
			return
		}
		for _, r := range pending {
			if !seen[r.ID] {
				seen[r.ID] = true
				go w.waitAndTell(ctx, r, ended)
			}
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return
		}
	}
}

// waitAndTell waits with a request and says when it needs no answer any more.
func (w watched) waitAndTell(ctx context.Context, r *approval.Request, ended chan<- struct{}) {
	w.wait(ctx, r)
	select {
	case <-r.Done():
	case <-ctx.Done():
		return
	}
	select {
	case ended <- struct{}{}:
	default: // it is said already
	}
}

// wait starts the program if the request waits for that long.
func (w watched) wait(ctx context.Context, r *approval.Request) {
	patience := time.NewTimer(w.after)
	defer patience.Stop()
	select {
	case <-r.Done():
	case <-ctx.Done():
	case <-patience.C:
		for _, p := range w.told {
			p.tell(r)
		}
	}
}
