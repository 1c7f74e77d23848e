package db

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/assent-dev/assent/internal/team/wire"
	"github.com/assent-dev/assent/policy"
)

// A Gate is a machine that has joined, for one of its users. It may ask, and never answer.
type Gate struct {
	ID      string            `json:"id"`
	Public  ed25519.PublicKey `json:"public"`
	Host    string            `json:"host"`
	User    string            `json:"user"`
	Sponsor string            `json:"sponsor"`
	Created time.Time         `json:"created"`
	Revoked time.Time         `json:"revoked,omitzero"`
	// LeaseUntil is until when the gate is taken to be there; Serial the bundle that it said it has.
	LeaseUntil time.Time `json:"lease_until,omitzero"`
	Serial     int64     `json:"serial,omitempty"`
}

const selectGates = `SELECT g.id, g.public, g.host, g.user_name, g.sponsor, g.created, g.revoked, l.lease_until, coalesce(l.serial, 0)
	FROM team.gates g LEFT JOIN team.leases l ON l.tenant = g.tenant AND l.gate = g.id WHERE g.tenant = $1`

func readGate(row pgx.CollectableRow) (g Gate, err error) {
	err = row.Scan(&g.ID, &g.Public, &g.Host, &g.User, &g.Sponsor, &g.Created, moment(&g.Revoked), moment(&g.LeaseUntil), &g.Serial)
	return g, err
}

// JoinToken returns a secret with which one machine can join, once. Its sponsor is the person behind its
// agents.
func (d *DB) JoinToken(ctx context.Context, sponsor, by string, lasts time.Duration) (secret string, err error) {
	secret = newID("")
	return secret, d.exec(ctx, "join token for "+sponsor, `INSERT INTO team.join_tokens (tenant, hash, sponsor, made_by, expires)
		SELECT $1, $2, id, $4, now() + $5 FROM team.people WHERE tenant = $1 AND id = $3 AND disabled IS NULL`,
		d.tenant, hashOf(secret), sponsor, by, lasts)
}

// Join spends a token and makes the machine a member. The same key with the same token is answered as
// the first time: the answer may have been lost.
func (d *DB) Join(ctx context.Context, j wire.Join) (Gate, error) {
	if len(j.Public) != ed25519.PublicKeySize {
		return Gate{}, errors.New("join: the machine's key is not an Ed25519 key")
	}
	id := newID("g_")
	err := d.in(ctx, Changes{Outbox: true}, func(tx pgx.Tx) error {
		var sponsor string
		err := tx.QueryRow(ctx, `UPDATE team.join_tokens j SET used = now()
			WHERE tenant = $1 AND hash = $2 AND used IS NULL AND expires > now() AND EXISTS (SELECT FROM team.people p
				WHERE p.tenant = j.tenant AND p.id = j.sponsor AND p.disabled IS NULL)
			RETURNING sponsor`, d.tenant, hashOf(j.Token)).Scan(&sponsor)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrSpent
		}
		if err != nil {
			return err
		}
		batch := &pgx.Batch{}
		batch.Queue(`INSERT INTO team.gates (tenant, id, public, host, user_name, sponsor) VALUES ($1, $2, $3, $4, $5, $6)`,
			d.tenant, id, j.Public, j.Host, j.User, sponsor)
		batch.Queue(`INSERT INTO team.news (tenant, gate) VALUES ($1, $2)`, d.tenant, id)
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
		joined := Gate{ID: id, Public: j.Public, Host: j.Host, User: j.User, Sponsor: sponsor}
		return announce(ctx, tx, d.tenant, Notice{Kind: NoticeJoined, Subject: id}, joined)
	})
	switch {
	case errors.Is(err, ErrSpent), uniqueViolation(err):
		g, found := d.joined(ctx, j)
		if found != nil {
			return Gate{}, fmt.Errorf("join: %w", ErrSpent)
		}
		return g, nil
	case err != nil:
		return Gate{}, fmt.Errorf("join: %w", err)
	}
	return d.Gate(ctx, id)
}

// joined returns the gate that used this token with this key.
func (d *DB) joined(ctx context.Context, j wire.Join) (Gate, error) {
	return one(ctx, d, "join", readGate, selectGates+` AND g.public = $2 AND g.revoked IS NULL
		AND EXISTS (SELECT FROM team.join_tokens t WHERE t.tenant = $1 AND t.hash = $3 AND t.sponsor = g.sponsor AND t.used = g.created)`,
		d.tenant, j.Public, hashOf(j.Token))
}

// Gate returns a machine by id, also one that was revoked.
func (d *DB) Gate(ctx context.Context, id string) (Gate, error) {
	return one(ctx, d, "machine "+id, readGate, selectGates+` AND g.id = $2`, d.tenant, id)
}

// Gates returns all machines.
func (d *DB) Gates(ctx context.Context) ([]Gate, error) {
	return all(ctx, d, "machines", readGate, selectGates+` ORDER BY g.host, g.id`, d.tenant)
}

// RevokeGate ends the key of a machine, and its open questions: no answer can reach it any more.
func (d *DB) RevokeGate(ctx context.Context, id string) error {
	changes := Changes{Outbox: true}
	err := pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `UPDATE team.gates SET revoked = coalesce(revoked, now()) WHERE tenant = $1 AND id = $2`, d.tenant, id)
		if err != nil {
			return err
		}
		if tag.RowsAffected() == 0 {
			return ErrNotFound
		}
		rows, err := tx.Query(ctx, `WITH open AS (
				SELECT id FROM team.requests WHERE tenant = $1 AND gate = $2 AND state = 'pending' ORDER BY id FOR UPDATE),
			put AS (
				UPDATE team.requests r SET state = $3, version = version + 1, changed = now(), escalates_at = NULL
				FROM open WHERE r.tenant = $1 AND r.id = open.id RETURNING r.id, r.agent, r.sponsor, r.summary),
			told AS (INSERT INTO team.outbox (tenant, kind, subject, body)
				SELECT $1, $4, id, convert_to(jsonb_build_object('request', id, 'gate', $2::text, 'agent', agent, 'sponsor', sponsor,
					'summary', summary, 'state', $3::text)::text, 'UTF8') FROM put)
			SELECT id FROM put`, d.tenant, id, policy.StateDismissed, NoticeSettled)
		if err != nil {
			return err
		}
		changes.Requests, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	if err != nil {
		return fmt.Errorf("machine %s: %w", id, err)
	}
	d.hub.tell(changes)
	return nil
}

// SetSponsor names another person behind a machine.
func (d *DB) SetSponsor(ctx context.Context, gate, sponsor string) error {
	return d.exec(ctx, "machine "+gate, `UPDATE team.gates SET sponsor = $3 WHERE tenant = $1 AND id = $2
		AND EXISTS (SELECT FROM team.people WHERE tenant = $1 AND id = $3)`, d.tenant, gate, sponsor)
}

// Lease says that machines are there for a while, and which bundle each has. A replica calls it for many
// at once, now and then.
func (d *DB) Lease(ctx context.Context, serials map[string]int64, lasts time.Duration) error {
	gates, has := make([]string, 0, len(serials)), make([]int64, 0, len(serials))
	for _, gate := range sortedKeys(serials) {
		gates, has = append(gates, gate), append(has, serials[gate])
	}
	_, err := d.pool.Exec(ctx, `INSERT INTO team.leases (tenant, gate, serial, lease_until)
		SELECT $1, gate, serial, now() + $4 FROM unnest($2::text[], $3::bigint[]) AS u (gate, serial) ORDER BY gate
		ON CONFLICT (tenant, gate) DO UPDATE SET serial = excluded.serial, lease_until = excluded.lease_until`,
		d.tenant, gates, has, lasts)
	if err != nil {
		return fmt.Errorf("leases: %w", err)
	}
	return nil
}

// An Agent asks on a machine for a person.
type Agent struct {
	Gate    string `json:"gate"`
	Name    string `json:"name"`
	Sponsor string `json:"sponsor"`
}

// SetAgent names the person behind an agent of a machine.
func (d *DB) SetAgent(ctx context.Context, a Agent) error {
	return d.exec(ctx, fmt.Sprintf("agent %s of machine %s", a.Name, a.Gate),
		`INSERT INTO team.agents (tenant, gate, name, sponsor)
		SELECT $1, g.id, $3, p.id FROM team.gates g, team.people p WHERE g.tenant = $1 AND g.id = $2 AND p.tenant = $1 AND p.id = $4
		ON CONFLICT (tenant, gate, name) DO UPDATE SET sponsor = excluded.sponsor`, d.tenant, a.Gate, a.Name, a.Sponsor)
}

// RemoveAgent forgets an agent; the machine's sponsor is behind it then.
func (d *DB) RemoveAgent(ctx context.Context, gate, name string) error {
	return d.exec(ctx, fmt.Sprintf("agent %s of machine %s", name, gate),
		`DELETE FROM team.agents WHERE tenant = $1 AND gate = $2 AND name = $3`, d.tenant, gate, name)
}

// Agents returns the agents of all machines.
func (d *DB) Agents(ctx context.Context) ([]Agent, error) {
	return all(ctx, d, "agents", pgx.RowToStructByPos[Agent],
		`SELECT gate, name, sponsor FROM team.agents WHERE tenant = $1 ORDER BY gate, name`, d.tenant)
}
