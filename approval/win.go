package approval

import (
	"context"
	"fmt"

	"github.com/assent-dev/assent/policy"
)

// win makes the settlement of a request final for every process, or says with a
// [*SettledError] who was faster.
func (g *Gate) win(ctx context.Context, r *Request, s Settlement) error {
	if g.cfg.Requests == nil {
		return nil
	}
	if s.At.IsZero() {
		s.At = g.cfg.Clock()
	}
	return safely("settling the request", func() error { return g.cfg.Requests.Settle(ctx, r, s) })
}

// takeBack opens a request again whose answer could not take effect. If that
// fails the answer stands where others see it, and nothing runs here.
func (g *Gate) takeBack(ctx context.Context, r *Request, why error) error {
	if g.cfg.Requests == nil {
		return why
	}
	err := safely("reopening the request", func() error {
		return g.cfg.Requests.Reopen(context.WithoutCancel(ctx), r, why.Error())
	})
	if err != nil {
		return fmt.Errorf("%w; it could not be asked again: %w", why, err)
	}
	return why
}

// lose drafts what an entry becomes whose request was settled elsewhere: the
// answer of whoever won holds here too. Without an answer nothing runs here.
func (b *Batch) lose(ctx context.Context, e *entry, lost *SettledError) draft {
	if d := lost.Decision; d != nil && !lost.Partial && e.request.Check(*d) == nil {
		if next, err := b.effect(ctx, e, *d); err == nil {
			return next
		}
	}
	if lost.State == policy.StateExpired {
		return b.gate.refuse(ctx, e.outcome, policy.StateExpired, errTimedOut.Error())
	}
	return b.gate.refuse(ctx, e.outcome, policy.StateDismissed, fmt.Sprintf("it was %s elsewhere by %s", lost.State, lost.By))
}
