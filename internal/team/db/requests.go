package db

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/policy"
)

// A Request is a question of a gate with how it stands.
type Request struct {
	// Request is what the gate signed, as it was read: its routing and its view count.
	*approval.Request
	View policy.Digest // of what it shows
	// Body and Signature are those of the gate.
	Body      []byte
	Signature []byte

	State   policy.State // [policy.StatePending] while it is open
	Version int64        // grows with each change
	// Asked are the groups whose members can be of use by now, and "person:ID" for the sponsor.
	Asked []string
	// Decision is what the voters agreed to; nil while it is open or nobody decided.
	Decision *approval.Decision
	EndedBy  *policy.Who // who answered at the machine
	// These are times of the database's clock.
	Asking    time.Time // when it came in
	Changed   time.Time
	Escalates time.Time // when further people are asked
	Expires   time.Time // when it ends with a denial; zero: never
	Age       time.Duration
	// Voted are the persons who have voted; while it is open, those whose votes have not expired.
	Voted []string
}

// personPrefix marks a single person among groups: no group has a colon in its name.
const personPrefix = "person:"

// parseRequest reads and checks what a gate signed.
func (d *DB) parseRequest(gate string, key ed25519.PublicKey, body, signature []byte) (*approval.Request, error) {
	if !wire.VerifyRequest(key, body, signature) {
		return nil, errors.New("the machine's signature is not valid")
	}
	var r approval.Request
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	switch {
	case r.ID == "":
		return nil, errors.New("it has no id")
	case r.Routing == nil:
		return nil, errors.New("it does not say who decides")
	case r.Routing.Tenant != d.tenant || r.Routing.Gate != gate:
		return nil, errors.New("it is of another team or machine")
	case r.Routing.Sponsor == "":
		return nil, errors.New("its agent has no sponsor")
	}
	if err := r.Routing.Need.Validate(); err != nil {
		return nil, err
	}
	return &r, nil
}

// Ask takes questions of a gate. Those that are there already are taken as well, if they are the same.
func (d *DB) Ask(ctx context.Context, g Gate, questions []wire.Signed) (wire.Taken, error) {
	taken := wire.Taken{}
	refuse := func(id string, err error) {
		if taken.Refused == nil {
			taken.Refused = map[string]string{}
		}
		taken.Refused[id] = err.Error()
	}
	asked, known := map[string]wire.Signed{}, map[string]*knownRequest{}
	batch := &pgx.Batch{}
	for _, q := range questions {
		r, err := d.parseRequest(g.ID, g.Public, q.Request, q.Signature)
		if err != nil {
			refuse(claimedID(q.Request), err)
			continue
		}
		view, err := r.ViewDigest(ctx)
		if err != nil {
			refuse(r.ID, err)
			continue
		}
		if asked[r.ID].Request != nil {
			refuse(r.ID, errors.New("it is there twice"))
			continue
		}
		asked[r.ID], known[r.ID] = q, &knownRequest{r, view, string(g.Public), len(q.Request)}
		d.queueRequest(batch, r, view, q)
	}
	if len(asked) == 0 {
		return taken, nil
	}
	ids := sortedKeys(asked)
	err := d.in(ctx, Changes{Requests: ids, Outbox: true}, func(tx pgx.Tx) error {
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `SELECT id, gate, body FROM team.requests WHERE tenant = $1 AND id = ANY($2) ORDER BY id`, d.tenant, ids)
		if err != nil {
			return err
		}
		var id, gate string
		var body []byte
		_, err = pgx.ForEachRow(rows, []any{&id, &gate, &body}, func() error {
			if gate != g.ID || !bytes.Equal(body, asked[id].Request) {
				refuse(id, errors.New("another request has this id"))
			} else {
				taken.Requests = append(taken.Requests, id)
			}
			return nil
		})
		return err
	})
	if err != nil {
		return wire.Taken{}, fmt.Errorf("requests of machine %s: %w", g.ID, err)
	}
	for _, id := range taken.Requests {
		d.known.put(known[id])
	}
	return taken, nil
}

// claimedID is what a question that is not taken calls itself.
func claimedID(body []byte) string {
	var r struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(body, &r) // without an id the machine is told about ""
	return r.ID
}

// queueRequest inserts a question and announces it, unless its id is there.
func (d *DB) queueRequest(batch *pgx.Batch, r *approval.Request, view policy.Digest, q wire.Signed) {
	need := r.Routing.Need
	var expires, escalates *time.Duration
	if need.Expires > 0 {
		expires = &need.Expires
	}
	for _, e := range need.Escalate {
		if escalates == nil || e.After < *escalates {
			escalates = &e.After
		}
	}
	batch.Queue(`WITH put AS (
			INSERT INTO team.requests (tenant, id, gate, agent, sponsor, summary, body, signature, view_digest, fingerprint, need, serial,
				asked, excluded, escalates_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, now() + $15::interval, now() + $16::interval)
			ON CONFLICT DO NOTHING RETURNING id)
		INSERT INTO team.outbox (tenant, kind, subject, body) SELECT $1, $17, id, $18 FROM put`,
		d.tenant, r.ID, r.Routing.Gate, r.Routing.Agent, r.Routing.Sponsor, strings.ToValidUTF8(strings.ReplaceAll(r.Summary, "\x00", ""), "?"),
		[]byte(q.Request), q.Signature, view[:], r.Fingerprint[:], need, r.Routing.Serial,
		asks(r, 0), excluded(r), escalates, expires, NoticeOpened, about(r, policy.StatePending))
}

// asks are those who can be of use when the request is this old.
func asks(r *approval.Request, age time.Duration) (out []string) {
	for _, c := range r.Routing.Need.From {
		if c.Group == approval.FromSponsor {
			out = append(out, personPrefix+r.Routing.Sponsor)
		} else {
			out = append(out, c.Group)
		}
	}
	for _, e := range r.Routing.Need.Escalate {
		if age >= e.After {
			out = append(out, e.To)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// excluded are persons whose yes does not count. Who wrote the policy is the directory's to say.
func excluded(r *approval.Request) []string {
	out := []string{}
	for _, who := range r.Routing.Need.Not {
		switch who {
		case approval.NotSponsor:
			out = append(out, r.Routing.Sponsor)
		case approval.NotEditor:
		default:
			out = append(out, who)
		}
	}
	return out
}

// reopen asks again what was settled by votes that had no effect at the gate. The votes go: whoever gave one is
// asked again, by a newer directory. An answer that came after what the gate had heard stays.
// A request that the gate answered itself, or that has expired, stays as it is.
const reopen = `WITH again AS (
		UPDATE team.requests SET state = 'pending', decision = NULL, news = NULL, version = version + 1, changed = now(),
			escalates_at = CASE WHEN need ? 'escalate' THEN now() END
		WHERE tenant = $1 AND gate = $2 AND id = $3 AND state IN ('approved', 'answered', 'denied') AND news <= $4
			AND (expires_at IS NULL OR expires_at > now()) RETURNING id)
	DELETE FROM team.votes v USING again WHERE v.tenant = $1 AND v.request = again.id`

// End closes questions that need no answer any more, as their gate says, and opens those again whose answer had no
// effect there: [policy.StatePending].
func (d *DB) End(ctx context.Context, gate string, ended []wire.Ended) error {
	batch, ids := &pgx.Batch{}, []string{}
	slices.SortFunc(ended, func(a, b wire.Ended) int { return strings.Compare(a.Request, b.Request) })
	for _, e := range ended {
		if e.State == "" {
			return fmt.Errorf("request %q: it has not ended", e.Request)
		}
		ids = append(ids, e.Request)
		if e.State == policy.StatePending {
			batch.Queue(reopen, d.tenant, gate, e.Request, e.Heard)
			continue
		}
		batch.Queue(`WITH put AS (
				UPDATE team.requests SET state = $4, ended_by = $5, version = version + 1, changed = now(), escalates_at = NULL
				WHERE tenant = $1 AND gate = $2 AND id = $3 AND state = 'pending' RETURNING id, agent, sponsor, summary)
			INSERT INTO team.outbox (tenant, kind, subject, body)
			SELECT $1, $6, id, convert_to(jsonb_build_object('request', id, 'gate', $2::text, 'agent', agent, 'sponsor', sponsor, 'summary', summary, 'state', $4::text)::text, 'UTF8') FROM put`,
			d.tenant, gate, e.Request, e.State, e.By, NoticeSettled)
	}
	err := d.in(ctx, Changes{Requests: ids, Outbox: true}, func(tx pgx.Tx) error { return tx.SendBatch(ctx, batch).Close() })
	if err != nil {
		return fmt.Errorf("requests of machine %s: %w", gate, err)
	}
	return nil
}

const requestColumns = `SELECT r.id, r.gate, r.body, r.signature, r.view_digest, r.state, r.version, r.asked, r.decision,
	r.ended_by, r.created, r.changed, r.escalates_at, r.expires_at, now() - r.created,
	(SELECT coalesce(array_agg(v.person ORDER BY v.person), '{}') FROM team.votes v WHERE v.tenant = r.tenant AND v.request = r.id
		AND (r.state <> 'pending' OR v.expires IS NULL OR v.expires > now()))`

const selectRequests = requestColumns + ` FROM team.requests r WHERE r.tenant = $1`

// pageBytes is how much the questions of one page or of one sweep have, but for the last of them: a machine can ask a thousand
// of four megabytes each, and everybody who is signed in looks at them with every change.
const pageBytes = 8 << 20

// A listed request is one as its row has it, and why it is not what was written.
type listed struct {
	Request
	id      string
	problem error
}

func readRequest(row pgx.CollectableRow) (Request, error) {
	l, err := readListed(row)
	if err == nil {
		err = l.problem
	}
	return l.Request, err
}

// readListed fails only with the database: one row that somebody changed is not in the way of others.
func readListed(row pgx.CollectableRow) (l listed, err error) {
	var gate string
	var view, decision []byte
	r := &l.Request
	err = row.Scan(&l.id, &gate, &r.Body, &r.Signature, &view, &r.State, &r.Version, &r.Asked, &decision, &r.EndedBy,
		&r.Asking, &r.Changed, moment(&r.Escalates), moment(&r.Expires), &r.Age, &r.Voted)
	if err == nil {
		l.problem = r.parse(l.id, gate, view, decision)
	}
	return l, err
}

// parse reads what the gate signed and what was decided, and reports why that is not what was written.
func (r *Request) parse(id, gate string, view, decision []byte) error {
	changed := func(err error) error { return fmt.Errorf("request %s: %w: %w", id, ErrChanged, err) }
	r.Request = new(approval.Request)
	if err := json.Unmarshal(r.Body, r.Request); err != nil {
		return changed(err)
	}
	if decision != nil {
		if err := json.Unmarshal(decision, &r.Decision); err != nil {
			return changed(err)
		}
	}
	var err error
	if r.View, err = r.ViewDigest(context.Background()); err != nil {
		return changed(err)
	}
	if r.ID != id || !bytes.Equal(r.View[:], view) || r.Routing == nil || r.Routing.Gate != gate {
		return fmt.Errorf("request %s: %w", id, ErrChanged)
	}
	return nil
}

// Verify reports why the request is not what the gate with this key signed.
func (r *Request) Verify(key ed25519.PublicKey) error {
	if !wire.VerifyRequest(key, r.Body, r.Signature) {
		return fmt.Errorf("request %s: %w: the machine's signature is not valid", r.ID, ErrChanged)
	}
	return nil
}

// Request returns a question by id.
func (d *DB) Request(ctx context.Context, id string) (Request, error) {
	return one(ctx, d, "request "+id, readRequest, selectRequests+` AND r.id = $2`, d.tenant, id)
}

// A Page asks for some of many. The zero Page is the first one.
type Page struct {
	After string // Next of the page before
	Limit int    // 50 if it is 0, at most 500
}

func (p Page) limit() int {
	if p.Limit <= 0 {
		return 50
	}
	return min(p.Limit, 500)
}

// OpenFor returns open questions that the person can help to answer, the oldest first: as a member of one
// of the groups, or as the sponsor. Next is for the page that follows; it is empty after the last one.
func (d *DB) OpenFor(ctx context.Context, person string, groups []string, p Page) (out []Request, next string, err error) {
	asked := append([]string{personPrefix + person}, groups...)
	return d.page(ctx, p, "", ` AND r.state = 'pending' AND r.asked && $5 AND NOT ($6 = ANY (r.excluded))`, asked, person)
}

// DenyFor returns open questions of the person's own agents that [DB.OpenFor] leaves out: others decide, and the person can
// only deny.
func (d *DB) DenyFor(ctx context.Context, person string, groups []string, p Page) (out []Request, next string, err error) {
	asked := append([]string{personPrefix + person}, groups...)
	return d.page(ctx, p, "", ` AND r.state = 'pending' AND r.sponsor = $6
		AND (NOT r.asked && $5 OR $6 = ANY (r.excluded))`, asked, person)
}

// A Filter chooses among all questions; what is empty chooses nothing.
type Filter struct {
	State   policy.State
	Gate    string
	Sponsor string
	Since   time.Time
}

// History returns questions, the newest first.
func (d *DB) History(ctx context.Context, f Filter, p Page) (out []Request, next string, err error) {
	return d.page(ctx, p, "DESC", ` AND ($5 = '' OR r.state = $5) AND ($6 = '' OR r.gate = $6) AND ($7 = '' OR r.sponsor = $7)
		AND ($8::timestamptz IS NULL OR r.created >= $8)`, f.State, f.Gate, f.Sponsor, moment(&f.Since))
}

// page reads one page in the order of time. A cursor is the time in microseconds and the id.
func (d *DB) page(ctx context.Context, p Page, order, where string, args ...any) (out []Request, next string, err error) {
	var after *time.Time
	var id string
	if p.After != "" {
		var micros int64
		if _, err := fmt.Sscanf(p.After, "%d-", &micros); err != nil {
			return nil, "", fmt.Errorf("page %q: %w: use the one that the page before gave", p.After, errInvalid)
		}
		at := time.UnixMicro(micros)
		_, id, _ = strings.Cut(p.After, "-")
		after = &at
	}
	compare := ">"
	if order == "DESC" {
		compare = "<"
	}
	by := func(row string) string { return ` ORDER BY ` + row + `.created ` + order + `, ` + row + `.id ` + order }
	query := fmt.Sprintf(requestColumns+` FROM (
			SELECT p.*, sum(octet_length(p.body)) OVER (%s) - octet_length(p.body) AS before FROM (
				SELECT r.* FROM team.requests r
				WHERE r.tenant = $1 %s AND ($2::timestamptz IS NULL OR (r.created, r.id) %s ($2, $3)) %s LIMIT $4
			) p) r WHERE r.before < %d %s`, by("p"), where, compare, by("r"), pageBytes, by("r"))
	rows, err := all(ctx, d, "requests", readListed, query, append([]any{d.tenant, after, id, p.limit() + 1}, args...)...)
	bytes := 0
	for _, l := range rows {
		bytes += len(l.Body)
	}
	if err == nil && (len(rows) > p.limit() || bytes >= pageBytes) {
		rows = rows[:min(len(rows), p.limit())]
		last := rows[len(rows)-1]
		next = fmt.Sprintf("%d-%s", last.Asking.UnixMicro(), last.id)
	}
	for _, l := range rows {
		if l.problem != nil {
			slog.Error("a request is left out", "request", l.id, "why", l.problem.Error())
			continue
		}
		out = append(out, l.Request)
	}
	return out, next, err
}

// A requestCache has requests that were read and whose signatures fit: what a gate signed never changes.
type requestCache struct {
	mu    sync.Mutex
	known map[string]*knownRequest
	bytes int
}

// A knownRequest is a request as its gate signed it. Its fields are not changed.
type knownRequest struct {
	*approval.Request
	view policy.Digest
	key  string // of the gate
	size int    // in bytes, as the gate signed it
}

// maxKnown and knownBytes bound the cache; when it is full, it starts anew.
const (
	maxKnown   = 4096
	knownBytes = 32 << 20
)

func (c *requestCache) get(id string) *knownRequest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[id]
}

func (c *requestCache) put(r *knownRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.known[r.ID]; old != nil {
		c.bytes -= old.size
	}
	if c.known == nil || len(c.known) >= maxKnown || c.bytes+r.size > knownBytes {
		c.known, c.bytes = map[string]*knownRequest{}, 0
	}
	c.known[r.ID] = r
	c.bytes += r.size
}
