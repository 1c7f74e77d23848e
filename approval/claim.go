package approval

import (
	"context"
	"errors"
	"fmt"

	"github.com/assent-dev/assent/policy"
)

// A Claim names one execution of a call of a batch of which there may be copies.
type Claim struct {
	Batch       string
	Call        string
	Fingerprint policy.Digest
	Session     string
	// Resume says that the call was suspended and goes on.
	Resume bool
}

// ErrClaimed says that a call was started from another copy of its batch.
var ErrClaimed = errors.New("it was started from another copy of the batch")

// A ClaimStore sees to it that a call runs once, in however many processes its
// batch was restored.
type ClaimStore interface {
	// Claim takes the call for this process, or fails with [ErrClaimed]. A claim
	// to resume succeeds only if the call is suspended.
	Claim(ctx context.Context, c Claim) error
	// Release says how the execution ended. A suspended call can be claimed to
	// resume; one that is pending, because nothing was done, can be claimed
	// again; any other never.
	Release(ctx context.Context, c Claim, stage Stage) error
}

// claimRun claims a call of a copied batch, here and in every process.
func (b *Batch) claimRun(ctx context.Context, e *entry) error {
	if b.gate.cfg.Claims == nil || !b.wasCopied() {
		return nil
	}
	c := b.claimOf(e)
	return safely("claiming the call", func() error { return b.gate.cfg.Claims.Claim(ctx, c) })
}

// releaseRun tells how a claimed execution ended. If that fails the claim
// stands: the call is not repeated.
func (b *Batch) releaseRun(ctx context.Context, e *entry, stage Stage) error {
	if b.gate.cfg.Claims == nil || !b.wasCopied() {
		return nil
	}
	c := b.claimOf(e)
	err := safely("releasing the call", func() error {
		return b.gate.cfg.Claims.Release(context.WithoutCancel(ctx), c, stage)
	})
	if err != nil {
		return fmt.Errorf("the call cannot be taken up again: %w", err)
	}
	return nil
}

func (b *Batch) claimOf(e *entry) Claim {
	o := &e.outcome
	return Claim{Batch: b.id, Call: o.Call.ID, Fingerprint: o.Fingerprint, Session: o.Call.Session, Resume: o.Stage == StageSuspended}
}

func (b *Batch) wasCopied() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.copied
}
