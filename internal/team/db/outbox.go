package db

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// A NoticeKind says what a notice is about.
type NoticeKind string

// The notices.
const (
	NoticeOpened    NoticeKind = "request.opened"
	NoticeEscalated NoticeKind = "request.escalated"
	NoticeSettled   NoticeKind = "request.settled"
	NoticeEnrolled  NoticeKind = "credential.enrolled"
	NoticeJoined    NoticeKind = "machine.joined"
	NoticePublished NoticeKind = "bundle.published"
)

// A Notice has to be sent. It was written in the transaction that did what it announces, so none is
// missing; it can be sent twice. It carries no authority.
type Notice struct {
	ID      int64           `json:"id"`
	Kind    NoticeKind      `json:"kind"`
	Subject string          `json:"subject"` // the id of what it is about
	Body    json.RawMessage `json:"body"`    // an [About], a [Credential] without its key, a [Gate]
	Created time.Time       `json:"created"`
	Tries   int             `json:"tries"` // with this one
	lease   time.Time
}

// An About is what a notice says about a request: nothing that it shows.
type About struct {
	Request string       `json:"request"`
	Gate    string       `json:"gate"`
	Agent   string       `json:"agent,omitempty"`
	Sponsor string       `json:"sponsor"`
	Summary string       `json:"summary"`
	State   policy.State `json:"state"`
	// Groups are asked.
	Groups []string `json:"groups,omitempty"`
}

// about is the body of a notice about a request.
func about(r *approval.Request, state policy.State) json.RawMessage {
	a := About{Request: r.ID, Gate: r.Routing.Gate, Agent: r.Routing.Agent, Sponsor: r.Routing.Sponsor, Summary: r.Summary, State: state}
	for _, c := range r.Routing.Need.From {
		a.Groups = append(a.Groups, c.Group)
	}
	data, err := json.Marshal(a)
	if err != nil {
		panic(err) // only texts are in it
	}
	return data
}

// announce puts a notice into the outbox, in the transaction that does what it says.
func announce(ctx context.Context, tx pgx.Tx, tenant string, n Notice, body any) (err error) {
	if n.Body, err = json.Marshal(body); err != nil {
		return err
	}
	batch := &pgx.Batch{}
	if err := queueNotices(batch, tenant, []Notice{n}); err != nil {
		return err
	}
	return tx.SendBatch(ctx, batch).Close()
}

func queueNotices(batch *pgx.Batch, tenant string, notices []Notice) error {
	if len(notices) == 0 {
		return nil
	}
	var kinds, subjects []string
	var bodies [][]byte
	for _, n := range notices {
		kinds, subjects, bodies = append(kinds, string(n.Kind)), append(subjects, n.Subject), append(bodies, n.Body)
	}
	batch.Queue(`INSERT INTO team.outbox (tenant, kind, subject, body)
		SELECT $1, kind, subject, body FROM unnest($2::text[], $3::text[], $4::bytea[]) AS u (kind, subject, body)`,
		tenant, kinds, subjects, bodies)
	return nil
}

// TakeNotices takes notices that are due. Until the lease ends nobody else gets them; one that is neither
// [DB.Sent] nor [DB.NotSent] by then is given out again.
func (d *DB) TakeNotices(ctx context.Context, limit int, lease time.Duration) ([]Notice, error) {
	return all(ctx, d, "outbox", func(row pgx.CollectableRow) (n Notice, err error) {
		var body []byte
		err = row.Scan(&n.ID, &n.Kind, &n.Subject, &body, &n.Created, &n.Tries, &n.lease)
		n.Body = body
		return n, err
	}, `WITH due AS MATERIALIZED (
			SELECT id FROM team.outbox WHERE tenant = $1 AND next_at <= now() ORDER BY next_at, id LIMIT $2 FOR UPDATE SKIP LOCKED)
		UPDATE team.outbox o SET tries = o.tries + 1, next_at = now() + $3 FROM due WHERE o.tenant = $1 AND o.id = due.id AND o.next_at <= now() RETURNING o.id, o.kind, o.subject, o.body, o.created, o.tries, o.next_at`, d.tenant, limit, lease)
}

// Sent removes notices that have reached everybody.
func (d *DB) Sent(ctx context.Context, notices ...Notice) error {
	ids := make([]int64, len(notices))
	for i, n := range notices {
		ids[i] = n.ID
	}
	_, err := d.pool.Exec(ctx, `DELETE FROM team.outbox WHERE tenant = $1 AND id = ANY($2)`, d.tenant, ids)
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	return nil
}

// How long a notice that could not be sent waits: twice as long each time.
const (
	firstRetry  = 5 * time.Second
	longestWait = time.Hour
	// GiveUpAfter is how long a notice is tried at all.
	GiveUpAfter = 3 * 24 * time.Hour
)

// NotSent lets a notice be tried again later, or gives up after [GiveUpAfter]. A lease that ended is not
// prolonged: somebody else may have the notice.
func (d *DB) NotSent(ctx context.Context, n Notice, problem error) error {
	wait := longestWait
	if n.Tries < 20 {
		wait = min(firstRetry<<(max(n.Tries, 1)-1), longestWait)
	}
	_, err := d.pool.Exec(ctx, `UPDATE team.outbox SET next_at = CASE WHEN created < now() - $5::interval THEN 'infinity' ELSE now() + $4 END, problem = $6
		WHERE tenant = $1 AND id = $2 AND next_at = $3`, d.tenant, n.ID, n.lease, wait, GiveUpAfter, problem.Error())
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	return nil
}

// GiveBack lets another replica take a notice at once that this one has no time to send. The try does not count.
func (d *DB) GiveBack(ctx context.Context, n Notice) error {
	_, err := d.pool.Exec(ctx, `UPDATE team.outbox SET next_at = now(), tries = tries - 1 WHERE tenant = $1 AND id = $2 AND next_at = $3`,
		d.tenant, n.ID, n.lease)
	if err != nil {
		return fmt.Errorf("outbox: %w", err)
	}
	return nil
}
