package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/kept"
	"github.com/assent-dev/assent/store/sessions"
)

// A requestRow is a row of the table of requests. Whoever changes it must know its version.
type requestRow struct {
	kept.Request
	n, version int64
}

const requestColumns = "r.id, r.session, r.state, r.body, r.ended, r.problem, r.digest, r.decision, r.n, r.version"

func scanRequest(row pgx.CollectableRow) (*requestRow, error) {
	r := new(requestRow)
	var answer kept.Answer
	err := row.Scan(&r.ID, &r.Session, &r.State, &r.Body, &r.Ended, &r.Problem, &answer.Digest, &answer.Body, &r.n, &r.version)
	if answer.Digest != nil {
		r.Answer = &answer
	}
	return r, err
}

// readRequest returns the row of a request, or [approval.ErrUnknownRequest].
func readRequest(ctx context.Context, q querier, id string) (*requestRow, error) {
	rows, err := q.Query(ctx, "SELECT "+requestColumns+" FROM store_requests r WHERE r.id = $1", id)
	if err != nil {
		return nil, err
	}
	r, err := pgx.CollectExactlyOneRow(rows, scanRequest)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("request %q: %w", id, approval.ErrUnknownRequest)
	}
	return r, err
}

// post writes requests that are not there yet, unless too many of a session would wait: then none. Two who post at the same
// moment may together exceed the limit, which is there against floods.
const post = `
WITH given AS (
	SELECT * FROM unnest($2::text[], $3::text[], $4::text[], $5::bytea[]) WITH ORDINALITY AS g (id, session, process, body, place)
), fresh AS (
	SELECT * FROM given WHERE NOT EXISTS (SELECT 1 FROM store_requests r WHERE r.id = given.id)
), full_session AS (
	SELECT session FROM fresh GROUP BY session HAVING count(*) + (
		SELECT count(*) FROM store_requests r WHERE r.session = fresh.session AND r.state = 'open') > $6
), posted AS (
	INSERT INTO store_requests (id, session, process, state, version, posted, body, ended, problem)
	SELECT id, session, process, 'open', nextval('store_request_changes'), ` + now + `, body, '', '' FROM fresh
	WHERE NOT EXISTS (SELECT 1 FROM full_session) ORDER BY place
	ON CONFLICT (id) DO NOTHING RETURNING id, version
)
SELECT coalesce((SELECT min(session) FROM full_session), ''), EXISTS (SELECT 1 FROM full_session),
	coalesce((SELECT array_agg(id) FROM posted), '{}'), coalesce((SELECT max(version) FROM posted), 0)`

// Post implements [approval.RequestStore].
func (s *Store) Post(ctx context.Context, requests ...*approval.Request) error {
	var ids, in, processes []string
	var bodies [][]byte
	for _, r := range requests {
		row, err := kept.NewRequest(r)
		if err != nil {
			return err
		}
		process := processKey(sessions.Process(r.Origin.Process))
		if err := s.leases.hold(ctx, process); err != nil {
			return err
		}
		ids, in, processes, bodies = append(ids, row.ID), append(in, row.Session), append(processes, process), append(bodies, row.Body)
	}
	var session string
	var full bool
	var posted []string
	var version int64
	row := s.pool.QueryRow(ctx, post, s.clock.argument(), ids, in, processes, bodies, approval.MaxPending)
	if err := row.Scan(&session, &full, &posted, &version); err != nil {
		return fault(err)
	}
	if full {
		return fmt.Errorf("session %q: %w", session, approval.ErrTooManyPending)
	}
	s.hub.requestsChanged(version, posted...)
	return nil
}

// Posted implements [approval.RequestStore].
func (s *Store) Posted(ctx context.Context, id string) (p approval.Posted, err error) {
	r, err := readRequest(ctx, s.pool, id)
	if err != nil {
		return p, fault(err)
	}
	return s.seen.posted(r)
}

// Open implements [approval.RequestStore].
func (s *Store) Open(ctx context.Context, session string) (out []approval.Posted, err error) {
	f := approval.OpenFilter{Session: session}
	for {
		page, next, err := s.OpenPage(ctx, f)
		if err != nil {
			return nil, err
		}
		out = append(out, page...)
		if next == "" {
			return out, nil
		}
		f.After = next
	}
}

// pageLength is how many requests are read at once.
const pageLength = 500

// awaited are the open requests that somebody can still wait for: their session is not stale, nor is their process gone.
const awaited = ` FROM store_requests r LEFT JOIN store_sessions s ON s.id = r.session LEFT JOIN store_leases l ON l.process = s.owner
	WHERE r.state = 'open' AND (s.id IS NULL OR NOT (` + stale + `))
	AND (r.process = '' OR EXISTS (SELECT 1 FROM store_leases p WHERE p.process = r.process AND p.until > ` + now + `))`

// OpenPage implements [approval.OpenPager].
func (s *Store) OpenPage(ctx context.Context, f approval.OpenFilter) (page []approval.Posted, next string, err error) {
	after := int64(0)
	if f.After != "" {
		if after, err = strconv.ParseInt(f.After, 10, 64); err != nil {
			return nil, "", fmt.Errorf("a page of requests after %q: it is not what the page before said", f.After)
		}
	}
	limit := pageLength
	if f.Limit > 0 {
		limit = min(f.Limit, pageLength)
	}
	rows, err := s.pool.Query(ctx, "SELECT "+requestColumns+awaited+" AND ($2 = '' OR r.session = $2) AND r.n > $3 ORDER BY r.n LIMIT $4",
		s.clock.argument(), f.Session, after, limit)
	if err != nil {
		return nil, "", fault(err)
	}
	found, err := pgx.CollectRows(rows, scanRequest)
	if err != nil {
		return nil, "", fault(err)
	}
	for _, r := range found {
		p, err := s.seen.posted(r)
		if err != nil {
			return nil, "", err
		}
		page = append(page, p)
	}
	if len(found) == limit {
		next = strconv.FormatInt(found[limit-1].n, 10)
	}
	return page, next, nil
}

// changeRequest makes of a request what f makes of it, which must depend on nothing else: if somebody changes the request
// meanwhile, it is called again. What was read before is tried first. F reports whether there is anything to write; the
// version is that of what was written, 0 for nothing.
func (s *Store) changeRequest(ctx context.Context, q querier, id string, f func(*kept.Request) (bool, error)) (version int64, err error) {
	row := s.seen.get(id)
	for fresh := row == nil; ; fresh = true {
		if fresh {
			if row, err = readRequest(ctx, q, id); err != nil {
				return 0, fault(err)
			}
		}
		next := row.Request
		changed, err := f(&next)
		if err == nil && changed {
			version, err = s.writeRequest(ctx, q, row, &next)
			if err != nil || version != 0 {
				return version, err
			}
			continue
		}
		if fresh { // else it may have been about what is not so any more
			return 0, err
		}
	}
}

// update writes a request if it is as it was read.
const update = `UPDATE store_requests SET state = $3, version = nextval('store_request_changes'), body = coalesce($4, body), ended = $5, problem = $6,
	digest = $7, decision = $8 WHERE id = $1 AND version = $2 RETURNING version`

// writeRequest returns the new version, or 0 if the request no longer had the version that was read. A body that is the same is
// not sent again.
func (s *Store) writeRequest(ctx context.Context, q querier, read *requestRow, r *kept.Request) (version int64, err error) {
	s.seen.forget(r.ID)
	body := r.Body
	if len(body) == 0 || len(read.Body) == len(body) && &read.Body[0] == &body[0] {
		body = nil
	}
	digest, decision := answerColumns(r)
	row := q.QueryRow(ctx, update, r.ID, read.version, r.State, body, r.Ended, clean(r.Problem), digest, decision)
	if err := row.Scan(&version); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, fault(err)
	}
	return version, nil
}

func answerColumns(r *kept.Request) (digest, decision []byte) {
	if r.Answer == nil {
		return nil, nil
	}
	return r.Answer.Digest, r.Answer.Body
}

// become is changeRequest for one request, of which others are told.
func (s *Store) become(ctx context.Context, id string, f func(*kept.Request) (bool, error)) error {
	version, err := s.changeRequest(ctx, s.pool, id, f)
	if version != 0 {
		s.hub.requestsChanged(version, id)
	}
	return err
}

// Answer implements [approval.RequestStore].
func (s *Store) Answer(ctx context.Context, d approval.Decision) error {
	return s.become(ctx, d.Request, func(r *kept.Request) (bool, error) { return true, r.Decide(d, s.clock.now()) })
}

// Settle implements [approval.Settler].
func (s *Store) Settle(ctx context.Context, request *approval.Request, how approval.Settlement) error {
	settle := func(r *kept.Request) (bool, error) { return r.Settle(how, s.opt.Detail, s.clock.now()) }
	for {
		err := s.become(ctx, request.ID, settle)
		if !errors.Is(err, approval.ErrUnknownRequest) {
			return err
		}
		if done, err := s.settleNew(ctx, request, settle); done || err != nil {
			return err
		}
	}
}

// settleNew writes the end of a request that nobody posted. It reports false if somebody has just done so.
func (s *Store) settleNew(ctx context.Context, request *approval.Request, settle func(*kept.Request) (bool, error)) (bool, error) {
	r, err := kept.NewRequest(request.Keep(s.opt.Detail))
	if err != nil {
		return false, err
	}
	if _, err := settle(r); err != nil {
		return false, err
	}
	digest, decision := answerColumns(r)
	tag, err := s.pool.Exec(ctx, `INSERT INTO store_requests (id, session, process, state, version, posted, body, ended, problem, digest, decision)
		VALUES ($2, $3, '', $4, nextval('store_request_changes'), `+now+`, $5, $6, '', $7, $8) ON CONFLICT (id) DO NOTHING`,
		s.clock.argument(), r.ID, r.Session, r.State, r.Body, r.Ended, digest, decision)
	return tag.RowsAffected() == 1, fault(err)
}

// TakeBack implements [approval.RequestStore].
func (s *Store) TakeBack(ctx context.Context, id string, answer policy.Digest) error {
	return s.become(ctx, id, func(r *kept.Request) (bool, error) { return true, r.TakeBack(answer) })
}

// Reopen implements [approval.Settler].
func (s *Store) Reopen(ctx context.Context, request *approval.Request, why string) error {
	return s.become(ctx, request.ID, func(r *kept.Request) (bool, error) { return true, r.Reopen(request, why) })
}

// Await implements [approval.RequestStore]. While the database is away it goes on waiting.
func (s *Store) Await(ctx context.Context, ids ...string) (approval.Posted, error) {
	changed, stop := s.hub.await(ctx, ids)
	defer stop()
	for {
		if ctx.Err() != nil {
			return approval.Posted{}, context.Cause(ctx)
		}
		id, err := s.firstEnded(ctx, ids)
		if err == nil && id != "" {
			var p approval.Posted
			if p, err = s.Posted(ctx, id); err == nil {
				return p, nil
			}
		}
		if err != nil && ctx.Err() == nil && !lost(err) {
			return approval.Posted{}, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// firstEnded returns the id of the first of the requests that is not open, or "".
func (s *Store) firstEnded(ctx context.Context, ids []string) (found string, err error) {
	var known int
	row := s.pool.QueryRow(ctx, `SELECT count(*), coalesce((array_agg(id ORDER BY n) FILTER (WHERE state <> 'open'))[1], '')
		FROM store_requests WHERE id = ANY($1)`, ids)
	if err := row.Scan(&known, &found); err != nil {
		return "", fault(err)
	}
	if known < len(ids) {
		return "", fmt.Errorf("%w: %d of %d are there", approval.ErrUnknownRequest, known, len(ids))
	}
	return found, nil
}

// maxSeen is how many requests are remembered.
const maxSeen = 4000

// seenRequests are open requests that were read: whoever answers one has mostly just looked at it, and decoding is most of the
// work. What is too old is noticed when it is written back. They have no body: it is decoded.
type seenRequests struct {
	mu   sync.Mutex
	rows map[string]*requestRow
}

// keep remembers a request if it is open. It must be decoded.
func (s *seenRequests) keep(r *requestRow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.State != kept.StateOpen {
		delete(s.rows, r.ID)
		return
	}
	if s.rows == nil {
		s.rows = map[string]*requestRow{}
	}
	for id := range s.rows {
		if len(s.rows) < maxSeen {
			break
		}
		delete(s.rows, id)
	}
	known := *r
	known.Body = nil
	s.rows[r.ID] = &known
}

// posted is what there is to see of a request. It is decoded once.
func (s *seenRequests) posted(r *requestRow) (approval.Posted, error) {
	if known := s.get(r.ID); known != nil && known.version == r.version {
		return known.Posted()
	}
	p, err := r.Posted()
	if err == nil {
		s.keep(r)
	}
	return p, err
}

func (s *seenRequests) get(id string) *requestRow {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rows[id]
}

func (s *seenRequests) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rows, id)
}
