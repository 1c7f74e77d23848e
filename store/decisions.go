package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/kept"
)

// readAnswer returns the answer to a request, which has a table of its own; nil if there is none.
func readAnswer(ctx context.Context, q querier, request string) (*kept.Answer, error) {
	var a kept.Answer
	var sum []byte
	row := q.QueryRowContext(ctx, "SELECT digest, body, sum FROM decisions WHERE request = ?", request)
	err := row.Scan(&a.Digest, &a.Body, &sum)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &a, checkRow(sum, "decisions", request, a.Digest, a.Body)
}

// writeAnswer writes the answer of a request, or takes away the one that it had.
func (t *txn) writeAnswer(r *requestRow) error {
	had := r.answered
	if r.answered = r.Answer != nil; r.answered {
		return t.exec("INSERT OR REPLACE INTO decisions (request, digest, body, sum) VALUES (?, ?, ?, ?)",
			r.ID, r.Answer.Digest, r.Answer.Body, sumOf("decisions", r.ID, r.Answer.Digest, r.Answer.Body))
	}
	if !had {
		return nil
	}
	return t.exec("DELETE FROM decisions WHERE request = ?", r.ID)
}

// changeRequest writes what f makes of a request. F reports whether there is anything to write.
func (s *Store) changeRequest(ctx context.Context, id string, f func(*txn, *kept.Request) (bool, error)) error {
	return s.change(ctx, func(t *txn) error {
		r, err := readRequest(t.ctx, t.conn, id)
		if err != nil {
			return err
		}
		return t.become(r, f)
	})
}

// become writes what f makes of a request.
func (t *txn) become(r *requestRow, f func(*txn, *kept.Request) (bool, error)) error {
	changed, err := f(t, &r.Request)
	if err != nil || !changed {
		return err
	}
	return t.writeRequest(r)
}

// Answer implements [approval.RequestStore].
func (s *Store) Answer(ctx context.Context, d approval.Decision) error {
	p, err := s.Posted(ctx, d.Request)
	if err != nil {
		return err
	}
	if p.Settled != nil { // who is late need not wait for a turn to write
		return &approval.SettledError{Request: d.Request, Settlement: *p.Settled}
	}
	return s.changeRequest(ctx, d.Request, func(t *txn, r *kept.Request) (bool, error) { return true, r.Decide(d, t.now) })
}

// Settle implements [approval.Settler].
func (s *Store) Settle(ctx context.Context, request *approval.Request, how approval.Settlement) error {
	return s.change(ctx, func(t *txn) error {
		r, err := readRequest(t.ctx, t.conn, request.ID)
		if errors.Is(err, approval.ErrUnknownRequest) {
			r, err = newRequestRow(request.Keep(s.opt.Detail))
		}
		if err != nil {
			return err
		}
		return t.become(r, settled(how))
	})
}

// settled ends a request for good.
func settled(how approval.Settlement) func(*txn, *kept.Request) (bool, error) {
	return func(t *txn, r *kept.Request) (bool, error) { return r.Settle(how, t.s.opt.Detail, t.now) }
}

// TakeBack opens a request again whose answer nobody has taken yet, and says with a
// [*approval.SettledError] if somebody has.
func (s *Store) TakeBack(ctx context.Context, id string, answer policy.Digest) error {
	return s.changeRequest(ctx, id, func(_ *txn, r *kept.Request) (bool, error) { return true, r.TakeBack(answer) })
}

// Reopen implements [approval.Settler].
func (s *Store) Reopen(ctx context.Context, request *approval.Request, why string) error {
	return s.changeRequest(ctx, request.ID, func(_ *txn, r *kept.Request) (bool, error) { return true, r.Reopen(request, why) })
}
