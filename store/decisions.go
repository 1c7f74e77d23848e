package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/redact"
	"github.com/assent-dev/assent/policy"
)

// A decisionRow is a row of the table of decisions: the answer to a request,
// whole until it has taken effect and then as the detail says. The digest is
// that of the whole.
type decisionRow struct {
	request  string
	digest   []byte
	body     []byte
	decision approval.Decision
}

func (d *decisionRow) partial() bool {
	now := d.decision.Digest()
	return string(now[:]) != string(d.digest)
}

// readDecision returns the answer to a request, or [sql.ErrNoRows].
func readDecision(ctx context.Context, q querier, request string) (*decisionRow, error) {
	d := &decisionRow{request: request}
	var sum []byte
	row := q.QueryRowContext(ctx, "SELECT digest, body, sum FROM decisions WHERE request = ?", request)
	err := row.Scan(&d.digest, &d.body, &sum)
	if err != nil {
		return nil, err
	}
	if err := checkRow(sum, "decisions", request, d.digest, d.body); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(d.body, &d.decision); err != nil || d.decision.Request != request {
		return nil, damage("the answer to request %q: it is for %q (%v)", request, d.decision.Request, err)
	}
	return d, nil
}

// writeDecision writes what is kept of a decision.
func (t *txn) writeDecision(d approval.Decision, detail approval.Detail) error {
	body, err := json.Marshal(d.Keep(detail))
	if err != nil {
		return fmt.Errorf("the answer to request %q: %w", d.Request, err)
	}
	digest := d.Digest()
	return t.exec("INSERT OR REPLACE INTO decisions (request, digest, body, sum) VALUES (?, ?, ?, ?)",
		d.Request, digest[:], body, sumOf("decisions", d.Request, digest[:], body))
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
	return s.change(ctx, func(t *txn) error {
		r, err := readRequest(t.ctx, t.conn, d.Request)
		if err != nil {
			return err
		}
		if r.state != stateOpen {
			return t.tooLate(r)
		}
		request, err := r.request()
		if err != nil {
			return err
		}
		if d.At.IsZero() {
			d.At = t.now
		}
		if err := request.Check(d); err != nil {
			return &approval.DecisionError{Request: d.Request, Err: err}
		}
		if err := t.writeDecision(d, approval.DetailFull); err != nil {
			return err
		}
		r.state, r.problem = stateAnswered, ""
		return t.end(r, d.Settled())
	})
}

// end notes how a request ended.
func (t *txn) end(r *requestRow, s approval.Settlement) (err error) {
	end := ending{Settlement: s}
	if end.Withdrawn, err = r.withdrawn(); err != nil {
		return err
	}
	if s.Decision != nil {
		end.Decision, end.Answer = nil, s.Decision.Digest()
	}
	if r.ended, err = json.Marshal(end); err != nil {
		return err
	}
	return t.writeRequest(r)
}

// tooLate says who was faster.
func (t *txn) tooLate(r *requestRow) error {
	won, err := r.settlement(t.ctx, t.conn)
	if err != nil {
		return err
	}
	return &approval.SettledError{Request: r.id, Settlement: *won}
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
		if r.state == stateOpen {
			return t.finishOpen(r, how)
		}
		same, err := t.sameEnd(r, how)
		switch {
		case err != nil:
			return err
		case !same:
			return t.tooLate(r)
		case r.state == stateAnswered:
			return t.finish(r, how) // it has been taken
		}
		return nil
	})
}

// finishOpen ends an open request, unless with an answer that was taken back.
func (t *txn) finishOpen(r *requestRow, how approval.Settlement) error {
	withdrawn, err := r.withdrawn()
	if err != nil {
		return err
	}
	if how.Decision != nil && slices.Contains(withdrawn, how.Decision.Digest()) {
		return fmt.Errorf("request %q: %w", r.id, approval.ErrTakenBack)
	}
	return t.finish(r, how)
}

// TakeBack opens a request again whose answer nobody has taken yet, and says with a
// [*approval.SettledError] if somebody has.
func (s *Store) TakeBack(ctx context.Context, id string, answer policy.Digest) error {
	return s.change(ctx, func(t *txn) error {
		r, err := readRequest(t.ctx, t.conn, id)
		if err != nil {
			return err
		}
		if r.state == stateOpen {
			return fmt.Errorf("request %q: %w", id, approval.ErrOpen)
		}
		d, err := readDecision(t.ctx, t.conn, id)
		if r.state != stateAnswered || err != nil || string(d.digest) != string(answer[:]) {
			return t.tooLate(r)
		}
		if err := t.exec("DELETE FROM decisions WHERE request = ?", id); err != nil {
			return err
		}
		withdrawn, err := r.withdrawn()
		if err != nil {
			return err
		}
		if r.ended, err = stillWithdrawn(append(withdrawn, answer)); err != nil {
			return err
		}
		r.state, r.problem = stateOpen, "an answer was taken back"
		return t.writeRequest(r)
	})
}

// stillWithdrawn is what an open request keeps of answers that were taken back.
func stillWithdrawn(answers []policy.Digest) ([]byte, error) {
	if len(answers) == 0 {
		return []byte{}, nil
	}
	return json.Marshal(ending{Withdrawn: answers})
}

// sameEnd reports whether a request has ended in this very way.
func (t *txn) sameEnd(r *requestRow, how approval.Settlement) (bool, error) {
	won, err := r.settlement(t.ctx, t.conn)
	if err != nil {
		return false, err
	}
	if won.Decision == nil || how.Decision == nil {
		return won.Decision == nil && how.Decision == nil && won.State == how.State && won.By == how.By, nil
	}
	d, err := readDecision(t.ctx, t.conn, r.id)
	if err != nil {
		return false, err
	}
	want := how.Decision.Digest()
	return string(d.digest) == string(want[:]), nil
}

// finish ends a request for good. What was shown and said is kept as the detail
// says.
func (t *txn) finish(r *requestRow, how approval.Settlement) error {
	request, err := r.request()
	if err != nil {
		return err
	}
	if how.At.IsZero() {
		how.At = t.now
	}
	if r.body, err = json.Marshal(request.Keep(t.s.opt.Detail)); err != nil {
		return err
	}
	if how.Decision != nil {
		if err := t.writeDecision(*how.Decision, t.s.opt.Detail); err != nil {
			return err
		}
	}
	r.state, r.problem = stateSettled, ""
	return t.end(r, how)
}

// Reopen implements [approval.Settler].
func (s *Store) Reopen(ctx context.Context, request *approval.Request, why string) error {
	fresh, err := newRequestRow(request)
	if err != nil {
		return err
	}
	return s.change(ctx, func(t *txn) error {
		r, err := readRequest(t.ctx, t.conn, request.ID)
		if err != nil {
			return err
		}
		if err := t.exec("DELETE FROM decisions WHERE request = ?", r.id); err != nil {
			return err
		}
		withdrawn, err := r.withdrawn()
		if err != nil {
			return err
		}
		if fresh.ended, err = stillWithdrawn(withdrawn); err != nil {
			return err
		}
		fresh.n, fresh.counted, fresh.problem = r.n, r.counted, redact.Text(why)
		return t.writeRequest(fresh)
	})
}
