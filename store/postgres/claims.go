package postgres

import (
	"context"
	"fmt"

	"github.com/assent-dev/assent/approval"
)

// The states of a claim; one that is not there is free.
const (
	claimTaken     = "taken"
	claimSuspended = "suspended"
)

// Claim implements [approval.ClaimStore]. The unique key decides who gets it.
func (s *Store) Claim(ctx context.Context, c approval.Claim) error {
	if c.Resume {
		return s.moveClaim(ctx, c, claimSuspended, claimTaken)
	}
	tag, err := s.pool.Exec(ctx, `INSERT INTO store_claims (batch, call, fingerprint, state, at) VALUES ($2, $3, $4, '`+claimTaken+`', `+now+`)
		ON CONFLICT DO NOTHING`, s.clock.argument(), c.Batch, c.Call, c.Fingerprint.String())
	if err == nil && tag.RowsAffected() == 0 {
		return claimed(c)
	}
	return fault(err)
}

func claimed(c approval.Claim) error {
	return fmt.Errorf("call %q of batch %q: %w", c.Call, c.Batch, approval.ErrClaimed)
}

// moveClaim takes a claim from one state to another, if it is in the first.
func (s *Store) moveClaim(ctx context.Context, c approval.Claim, from, to string) error {
	tag, err := s.pool.Exec(ctx, "UPDATE store_claims SET state = $5 WHERE batch = $1 AND call = $2 AND fingerprint = $3 AND state = $4",
		c.Batch, c.Call, c.Fingerprint.String(), from, to)
	if err == nil && tag.RowsAffected() == 0 {
		return claimed(c)
	}
	return fault(err)
}

// Release implements [approval.ClaimStore]. What has ended stays claimed for good.
func (s *Store) Release(ctx context.Context, c approval.Claim, stage approval.Stage) (err error) {
	const taken = " WHERE batch = $1 AND call = $2 AND fingerprint = $3 AND state = '" + claimTaken + "'"
	switch stage {
	case approval.StageSuspended:
		_, err = s.pool.Exec(ctx, "UPDATE store_claims SET state = '"+claimSuspended+"'"+taken, c.Batch, c.Call, c.Fingerprint.String())
	case approval.StageWaiting:
		_, err = s.pool.Exec(ctx, "DELETE FROM store_claims"+taken, c.Batch, c.Call, c.Fingerprint.String())
	}
	return fault(err)
}
