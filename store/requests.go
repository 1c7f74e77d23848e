package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/sessions"
)

// The states of a request: it waits; it has an answer, which whoever posted it is
// still to take; it has ended.
const (
	stateOpen     = "open"
	stateAnswered = "answered"
	stateSettled  = "settled"
)

// A requestRow is a row of the table of requests.
type requestRow struct {
	n                  int64
	id, session, state string
	created            int64
	body, ended        []byte // a request, a settlement without its decision
	problem            string

	counted bool   // it is written as open
	sum     string // of all that, as it was read
}

const requestColumns = "n, id, session, state, created, body, ended, problem"

func (r *requestRow) fields() []any {
	return []any{r.n, r.id, r.session, r.state, r.created, r.body, r.ended, r.problem}
}

func (r *requestRow) request() (*approval.Request, error) {
	out := new(approval.Request)
	if err := json.Unmarshal(r.body, out); err != nil || out.ID != r.id {
		return nil, damage("request %q: it is kept as %q (%v)", r.id, out.ID, err)
	}
	return out, nil
}

// readRequests returns the rows for which a condition holds, in the order in
// which they were posted.
func readRequests(ctx context.Context, q querier, where string, args ...any) ([]requestRow, error) {
	return collect(ctx, q, func(r *requestRow, scan scanner) error {
		var sum []byte
		if err := scan(&r.n, &r.id, &r.session, &r.state, &r.created, &r.body, &r.ended, &r.problem, &sum); err != nil {
			return err
		}
		r.counted, r.sum = r.state == stateOpen, string(sum)
		return checkRow(sum, "requests", r.fields()...)
	}, "SELECT "+requestColumns+", sum FROM requests WHERE "+where+" ORDER BY n", args...)
}

// readOpen returns the open requests of a session, or of all with "". There must
// be as many as were written.
func (s *Store) readOpen(ctx context.Context, q querier, session string) ([]requestRow, error) {
	h, err := s.currentHead(ctx, q)
	if err != nil {
		return nil, err
	}
	rows, err := readRequests(ctx, q, "state = 'open'")
	if err != nil {
		return nil, err
	}
	if int64(len(rows)) != h.open {
		return nil, damage("%d of %d open requests are there", len(rows), h.open)
	}
	return slices.DeleteFunc(rows, func(r requestRow) bool { return session != "" && r.session != session }), nil
}

// knownRequest is readRequest for an id that somebody was given: if it is not
// there, it may be damaged.
func knownRequest(ctx context.Context, q querier, id string) (*requestRow, error) {
	r, err := readRequest(ctx, q, id)
	if errors.Is(err, approval.ErrUnknownRequest) {
		if all, e := readRequests(ctx, q, "+id IS NOT NULL"); e != nil {
			return nil, e
		} else if slices.ContainsFunc(all, func(r requestRow) bool { return r.id == id }) {
			return nil, damage("request %q is not where it should be", id)
		}
	}
	return r, err
}

// readRequest returns the row of a request, or [approval.ErrUnknownRequest].
func readRequest(ctx context.Context, q querier, id string) (*requestRow, error) {
	rows, err := readRequests(ctx, q, "id = ?", id)
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 || rows[0].id != id {
		return nil, fmt.Errorf("request %q: %w", id, approval.ErrUnknownRequest)
	}
	return &rows[0], nil
}

// writeRequest writes a row; one without a number is new. The head counts those
// that are open.
func (t *txn) writeRequest(r *requestRow) error {
	if r.state == stateOpen && !r.counted {
		t.head.open++
	}
	if r.state != stateOpen && r.counted {
		t.head.open--
	}
	r.counted = r.state == stateOpen
	if r.n == 0 {
		if err := t.row("SELECT coalesce(max(n), 0) + 1 FROM requests").Scan(&r.n); err != nil {
			return err
		}
	}
	t.head.requests++
	return t.exec("INSERT OR REPLACE INTO requests ("+requestColumns+", sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		append(r.fields(), sumOf("requests", r.fields()...))...)
}

func newRequestRow(r *approval.Request) (*requestRow, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("request %q: %w", r.ID, err)
	}
	return &requestRow{id: r.ID, session: r.Call.Session, state: stateOpen, created: nanoseconds(r.Created), body: body,
		ended: []byte{}}, nil
}

// Post implements [approval.RequestStore].
func (s *Store) Post(ctx context.Context, requests ...*approval.Request) error {
	rows := make([]*requestRow, len(requests))
	for i, r := range requests {
		var err error
		if rows[i], err = newRequestRow(r); err != nil { // views are built before the store is locked
			return err
		}
	}
	err := s.change(ctx, func(t *txn) error {
		for _, r := range rows {
			_, err := readRequest(t.ctx, t.conn, r.id)
			if errors.Is(err, approval.ErrUnknownRequest) {
				err = t.postNew(r)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	routed := func(r *approval.Request) bool { return r.Routing != nil }
	if err == nil && s.opt.Posted != nil && slices.ContainsFunc(requests, routed) {
		s.opt.Posted()
	}
	return err
}

// postNew writes a new request, unless too many of its session wait.
func (t *txn) postNew(r *requestRow) error {
	var open int
	row := t.row("SELECT count(*) FROM requests WHERE state = 'open' AND session = ?", r.session)
	if err := row.Scan(&open); err != nil {
		return err
	}
	if open >= approval.MaxPending {
		return fmt.Errorf("request %q: %w", r.id, approval.ErrTooManyPending)
	}
	return t.writeRequest(r)
}

// Posted implements [approval.RequestStore].
func (s *Store) Posted(ctx context.Context, id string) (p approval.Posted, err error) {
	err = s.read(ctx, func(q querier) error {
		r, err := knownRequest(ctx, q, id)
		if err == nil {
			p, err = r.posted(ctx, q)
		}
		return err
	})
	return p, err
}

// Open implements [approval.RequestStore].
func (s *Store) Open(ctx context.Context, session string) (out []approval.Posted, err error) {
	err = s.read(ctx, func(q querier) error {
		rows, err := s.readOpen(ctx, q, session)
		if err != nil {
			return err
		}
		if out, err = s.seen.posted(rows, session == ""); err != nil {
			return err
		}
		if len(out) > 0 {
			out, err = s.awaited(ctx, q, out)
		}
		return err
	})
	return out, err
}

// seenRequests are the open requests that were read last. Who shows what waits reads all of them again with every
// change, and decoding is most of the work. Nobody changes a request that a store returned.
type seenRequests struct {
	mu       sync.Mutex
	requests map[string]seenRequest
}

type seenRequest struct {
	sum     string
	request *approval.Request
}

// posted decodes those rows that are new or have changed. If they are all that are open, the others are forgotten.
func (s *seenRequests) posted(rows []requestRow, all bool) ([]approval.Posted, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := make(map[string]seenRequest, len(rows))
	var out []approval.Posted
	for i := range rows {
		r := &rows[i]
		known, ok := s.requests[r.id]
		if !ok || known.sum != r.sum {
			request, err := r.request()
			if err != nil {
				return nil, err
			}
			known = seenRequest{r.sum, request}
		}
		now[r.id] = known
		out = append(out, approval.Posted{Request: known.request, Problem: r.problem})
	}
	if all {
		s.requests = now
	}
	return out, nil
}

// awaited leaves out what nobody can wait for any more: nothing in the store changes when a process
// is killed, until somebody cleans up.
func (s *Store) awaited(ctx context.Context, q querier, open []approval.Posted) ([]approval.Posted, error) {
	all, err := readSessions(ctx, q)
	if err != nil {
		return nil, err
	}
	h, err := s.currentHead(ctx, q)
	if err != nil {
		return nil, err
	}
	now := s.latest(h)
	known := map[string]sessions.Session{}
	for _, session := range all {
		known[session.ID] = session
	}
	return slices.DeleteFunc(open, func(p approval.Posted) bool {
		session, begun := known[p.Request.Call.Session]
		return begun && s.stale(session, now) || s.orphan(p.Request)
	}), nil
}

// orphan reports whether a request was posted by a process that is gone and would wait for the
// answer.
func (s *Store) orphan(r *approval.Request) bool {
	owner := sessions.Process(r.Origin.Process)
	return owner != sessions.Process{} && !s.opt.Alive(owner)
}

// posted returns the row with the decision that belongs to it.
func (r *requestRow) posted(ctx context.Context, q querier) (p approval.Posted, err error) {
	if p.Request, err = r.request(); err != nil {
		return p, err
	}
	p.Problem = r.problem
	if r.state == stateOpen {
		return p, nil
	}
	p.Settled, err = r.settlement(ctx, q)
	return p, err
}

// An ending is a settlement as a row keeps it: of its decision, which has a table
// of its own, the digest.
type ending struct {
	approval.Settlement
	Answer policy.Digest `json:"answer,omitzero"`
	// Withdrawn are the answers that were taken back: whoever has read one before cannot use it.
	Withdrawn []policy.Digest `json:"withdrawn,omitempty"`
}

// withdrawn returns the answers that were taken back.
func (r *requestRow) withdrawn() ([]policy.Digest, error) {
	if len(r.ended) == 0 {
		return nil, nil
	}
	var end ending
	if err := json.Unmarshal(r.ended, &end); err != nil {
		return nil, damage("request %q: %v", r.id, err)
	}
	return end.Withdrawn, nil
}

func (r *requestRow) settlement(ctx context.Context, q querier) (*approval.Settlement, error) {
	var end ending
	if err := json.Unmarshal(r.ended, &end); err != nil {
		return nil, damage("request %q: %v", r.id, err)
	}
	if end.Answer.IsZero() {
		return &end.Settlement, nil
	}
	d, err := readDecision(ctx, q, r.id)
	if errors.Is(err, sql.ErrNoRows) || err == nil && string(d.digest) != string(end.Answer[:]) {
		err = damage("the answer to request %q is not the one that was written", r.id)
	}
	if err != nil {
		return nil, err
	}
	end.Decision, end.Partial = &d.decision, d.partial()
	return &end.Settlement, nil
}

// Await implements [approval.RequestStore].
func (s *Store) Await(ctx context.Context, ids ...string) (approval.Posted, error) {
	changed, stop := s.signal(topicRequests)
	defer stop()
	for {
		if ctx.Err() != nil {
			return approval.Posted{}, late(ctx)
		}
		id, err := s.firstEnded(ctx, ids)
		if err != nil {
			return approval.Posted{}, err
		}
		if id != "" {
			return s.Posted(ctx, id)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return approval.Posted{}, late(ctx)
		}
	}
}

// firstEnded returns the id of the first of the requests that is not open.
func (s *Store) firstEnded(ctx context.Context, ids []string) (found string, err error) {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	in := "id IN (?" + strings.Repeat(", ?", max(len(ids)-1, 0)) + ")"
	err = s.peek(ctx, func(ctx context.Context, q *statements) error {
		rows, err := q.QueryContext(ctx, "SELECT id, state FROM requests WHERE "+in+" ORDER BY n", args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		n := 0
		for ; rows.Next(); n++ {
			var id, state string
			if err := rows.Scan(&id, &state); err != nil {
				return err
			}
			if found == "" && state != stateOpen {
				found = id
			}
		}
		if n < len(ids) && rows.Err() == nil {
			return fmt.Errorf("%w: %d of %d are there", approval.ErrUnknownRequest, n, len(ids))
		}
		return rows.Err()
	})
	return found, err
}
