package db

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// A CastVote is a vote that somebody gave.
type CastVote struct {
	Person   string
	Vote     approval.Vote // without a proof if it is a no of somebody who was only signed in
	Decision approval.Decision
	At       time.Time
}

// Votes returns the votes on a request, in the order in which they came.
func (d *DB) Votes(ctx context.Context, request string) ([]CastVote, error) {
	return all(ctx, d, "votes on "+request, func(row pgx.CollectableRow) (v CastVote, err error) {
		var vote, decision []byte
		if err := row.Scan(&v.Person, &vote, &decision, &v.At); err != nil {
			return v, err
		}
		return v, errors.Join(json.Unmarshal(vote, &v.Vote), json.Unmarshal(decision, &v.Decision))
	}, `SELECT person, vote, decision, at FROM team.votes WHERE tenant = $1 AND request = $2 ORDER BY at, person`, d.tenant, request)
}

// Deny ends an open request with the no of somebody who is signed in. It has no proof: a gate takes a no from anybody.
func (d *DB) Deny(ctx context.Context, id, person, note string, court Court) error {
	r, err := d.knownRequest(ctx, id, court)
	if err != nil {
		return fmt.Errorf("deny %s: %w", id, err)
	}
	no := r.Deny("")
	kept, err := keep(&no)
	if err != nil {
		return fmt.Errorf("deny %s: %w", id, err)
	}
	p := &pendingVote{request: r, person: person, ballot: Ballot{approval.Vote{Note: note}, no}, decision: kept}
	for {
		t := &settlement{db: d}
		err := t.run(ctx, func(tx pgx.Tx) error {
			if err := t.read(ctx, tx, []string{id}); err != nil {
				return err
			}
			s := t.rows[id]
			if s == nil {
				return ErrNotFound
			}
			if s.state != policy.StatePending {
				return ErrSettled
			}
			s.request, s.settled, s.state, s.decision = r, true, policy.StateDenied, kept
			t.votes = append(t.votes, p)
			t.change(s)
			t.tell(NoticeSettled, s)
			return nil
		})
		if (again(err) || errors.Is(err, errMoved)) && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return fmt.Errorf("deny %s: %w", id, err)
		}
		return nil
	}
}
