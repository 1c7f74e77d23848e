package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/store/kept"
	"github.com/assent-dev/assent/store/sessions"
)

// A requestRow is a row of the table of requests.
type requestRow struct {
	kept.Request
	n int64

	counted  bool   // it is written as open
	answered bool   // an answer to it is written
	sum      string // of all that, as it was read
}

const requestColumns = "n, id, session, state, created, body, ended, problem"

func (r *requestRow) fields() []any {
	return []any{r.n, r.ID, r.Session, string(r.State), kept.Nanoseconds(r.Created), r.Body, r.Ended, r.Problem}
}

// readRequests returns the rows for which a condition holds, in the order in
// which they were posted.
func readRequests(ctx context.Context, q querier, where string, args ...any) ([]requestRow, error) {
	return collect(ctx, q, func(r *requestRow, scan scanner) error {
		var sum []byte
		var created int64
		if err := scan(&r.n, &r.ID, &r.Session, &r.State, &created, &r.Body, &r.Ended, &r.Problem, &sum); err != nil {
			return err
		}
		r.Created = kept.FromNano(created)
		r.counted, r.sum = r.State == kept.StateOpen, string(sum)
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
	return slices.DeleteFunc(rows, func(r requestRow) bool { return session != "" && r.Session != session }), nil
}

// knownRequest is readRequest for an id that somebody was given: if it is not
// there, it may be damaged.
func knownRequest(ctx context.Context, q querier, id string) (*requestRow, error) {
	r, err := readRequest(ctx, q, id)
	if errors.Is(err, approval.ErrUnknownRequest) {
		if all, e := readRequests(ctx, q, "+id IS NOT NULL"); e != nil {
			return nil, e
		} else if slices.ContainsFunc(all, func(r requestRow) bool { return r.ID == id }) {
			return nil, damage("request %q is not where it should be", id)
		}
	}
	return r, err
}

// readRequest returns the row of a request with its answer, or [approval.ErrUnknownRequest].
func readRequest(ctx context.Context, q querier, id string) (*requestRow, error) {
	rows, err := readRequests(ctx, q, "id = ?", id)
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 || rows[0].ID != id {
		return nil, fmt.Errorf("request %q: %w", id, approval.ErrUnknownRequest)
	}
	r := &rows[0]
	if r.State != kept.StateOpen {
		r.Answer, err = readAnswer(ctx, q, id)
		r.answered = r.Answer != nil
	}
	return r, err
}

// writeRequest writes a row; one without a number is new. The head counts those
// that are open.
func (t *txn) writeRequest(r *requestRow) error {
	if r.State == kept.StateOpen && !r.counted {
		t.head.open++
	}
	if r.State != kept.StateOpen && r.counted {
		t.head.open--
	}
	r.counted = r.State == kept.StateOpen
	if r.n == 0 {
		if err := t.row("SELECT coalesce(max(n), 0) + 1 FROM requests").Scan(&r.n); err != nil {
			return err
		}
	}
	t.head.requests++
	if err := t.writeAnswer(r); err != nil {
		return err
	}
	return t.exec("INSERT OR REPLACE INTO requests ("+requestColumns+", sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		append(r.fields(), sumOf("requests", r.fields()...))...)
}

func newRequestRow(r *approval.Request) (*requestRow, error) {
	fresh, err := kept.NewRequest(r)
	if err != nil {
		return nil, err
	}
	return &requestRow{Request: *fresh}, nil
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
			_, err := readRequest(t.ctx, t.conn, r.ID)
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
	row := t.row("SELECT count(*) FROM requests WHERE state = 'open' AND session = ?", r.Session)
	if err := row.Scan(&open); err != nil {
		return err
	}
	if open >= approval.MaxPending {
		return fmt.Errorf("request %q: %w", r.ID, approval.ErrTooManyPending)
	}
	return t.writeRequest(r)
}

// Posted implements [approval.RequestStore].
func (s *Store) Posted(ctx context.Context, id string) (p approval.Posted, err error) {
	err = s.read(ctx, func(q querier) error {
		r, err := knownRequest(ctx, q, id)
		if err == nil {
			p, err = r.Posted()
		}
		return err
	})
	return p, err
}

// Open implements [approval.RequestStore].
func (s *Store) Open(ctx context.Context, session string) ([]approval.Posted, error) {
	out, _, err := s.OpenPage(ctx, approval.OpenFilter{Session: session})
	return out, err
}

// OpenPage implements [approval.OpenPager]. Its pages may have less than was asked for: what nobody waits for is left out.
func (s *Store) OpenPage(ctx context.Context, f approval.OpenFilter) (page []approval.Posted, next string, err error) {
	after, err := kept.PageAfter(f)
	if err != nil {
		return nil, "", err
	}
	err = s.read(ctx, func(q querier) error {
		rows, err := s.readOpen(ctx, q, f.Session)
		if err != nil {
			return err
		}
		rows = slices.DeleteFunc(rows, func(r requestRow) bool { return r.n <= after })
		if f.Limit > 0 && len(rows) > f.Limit {
			rows = rows[:f.Limit]
			next = kept.PageNext(rows[f.Limit-1].n)
		}
		if page, err = s.seen.posted(rows, f == approval.OpenFilter{}); err != nil {
			return err
		}
		if len(page) > 0 {
			page, err = s.awaited(ctx, q, page)
		}
		return err
	})
	return page, next, err
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
		known, ok := s.requests[r.ID]
		if !ok || known.sum != r.sum {
			request, err := r.Request.Request()
			if err != nil {
				return nil, err
			}
			known = seenRequest{r.sum, request}
		}
		now[r.ID] = known
		out = append(out, approval.Posted{Request: known.request, Problem: r.Problem})
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
			if found == "" && state != string(kept.StateOpen) {
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
