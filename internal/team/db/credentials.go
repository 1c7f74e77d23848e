package db

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/assent-dev/assent/approval"
)

// A Credential is a key of a person.
type Credential struct {
	ID     string            `json:"id"`
	Person string            `json:"person"`
	Kind   approval.Strength `json:"kind"` // [approval.StrengthPasskey] or [approval.StrengthDevice]
	Public []byte            `json:"public"`
	// RP is the name for which a passkey works; empty for a device.
	RP       string `json:"rp,omitempty"`
	AAGUID   []byte `json:"aaguid,omitempty"`
	BackedUp bool   `json:"backed_up,omitempty"` // it is copied to other devices
	Name     string `json:"name"`
	// EnrolledBy is the person who vouched: who invited, or the person themselves with another key.
	EnrolledBy string    `json:"enrolled_by"`
	Created    time.Time `json:"created"`
	// CountsFrom is when the key may be put into a bundle: it was announced before.
	CountsFrom time.Time `json:"counts_from"`
	Revoked    time.Time `json:"revoked,omitzero"`
}

const selectCredentials = `SELECT id, person, kind, public, rp, aaguid, backed_up, name, enrolled_by, created, counts_from, revoked
	FROM team.credentials WHERE tenant = $1`

func readCredential(row pgx.CollectableRow) (c Credential, err error) {
	err = row.Scan(&c.ID, &c.Person, &c.Kind, &c.Public, &c.RP, &c.AAGUID, &c.BackedUp, &c.Name, &c.EnrolledBy, &c.Created, &c.CountsFrom, moment(&c.Revoked))
	return c, err
}

// Enrol adds a key of a person, announces it, and lets it count after the wait. A first key needs the
// secret of an invitation by somebody else, which is spent; a further one a word of an existing key,
// which the caller has checked: then the invitation is empty and EnrolledBy the person.
func (d *DB) Enrol(ctx context.Context, c Credential, invitation string, wait time.Duration) (Credential, error) {
	fail := func(err error) (Credential, error) {
		return Credential{}, fmt.Errorf("enrol a key of %s: %w", c.Person, err)
	}
	err := d.in(ctx, Changes{Outbox: true}, func(tx pgx.Tx) error {
		if invitation != "" {
			var person string
			// An invitation is void once who made it or got it is disabled. Administrators are not in the table of people.
			err := tx.QueryRow(ctx, `UPDATE team.invitations i SET used = now()
				WHERE tenant = $1 AND hash = $2 AND used IS NULL AND expires > now() AND NOT EXISTS (SELECT FROM team.people p
					WHERE p.tenant = i.tenant AND p.id IN (i.person, i.made_by) AND p.disabled IS NOT NULL)
				RETURNING person, made_by`,
				d.tenant, hashOf(invitation)).Scan(&person, &c.EnrolledBy)
			if errors.Is(err, pgx.ErrNoRows) || err == nil && person != c.Person {
				return ErrSpent
			}
			if err != nil {
				return err
			}
		} else if err := vouched(ctx, tx, d.tenant, c); err != nil {
			return err
		}
		// A caller need not have the private half, and could enrol the key of another: the table has each once.
		err := tx.QueryRow(ctx, `INSERT INTO team.credentials
			(tenant, id, person, kind, public, rp, aaguid, backed_up, name, enrolled_by, counts_from)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, now() + $11) RETURNING created, counts_from`,
			d.tenant, c.ID, c.Person, c.Kind, c.Public, c.RP, c.AAGUID, c.BackedUp, c.Name, c.EnrolledBy, wait).Scan(&c.Created, &c.CountsFrom)
		if uniqueViolation(err) {
			return ErrExists
		}
		if err != nil {
			return err
		}
		return announce(ctx, tx, d.tenant, Notice{Kind: NoticeEnrolled, Subject: c.ID}, c)
	})
	if err != nil {
		return fail(err)
	}
	return c, nil
}

// vouched reports why a person has no key yet that could vouch for another.
func vouched(ctx context.Context, tx pgx.Tx, tenant string, c Credential) error {
	var has bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM team.credentials
		WHERE tenant = $1 AND person = $2 AND revoked IS NULL AND counts_from <= now())`, tenant, c.Person).Scan(&has)
	if err == nil && (!has || c.EnrolledBy != c.Person) {
		err = errors.New("a first key needs an invitation by another person")
	}
	return err
}

// Credential returns a key by id.
func (d *DB) Credential(ctx context.Context, id string) (Credential, error) {
	return one(ctx, d, "key "+id, readCredential, selectCredentials+` AND id = $2`, d.tenant, id)
}

// Credentials returns the keys of a person, or of everybody; also those that were revoked.
func (d *DB) Credentials(ctx context.Context, person string) ([]Credential, error) {
	return all(ctx, d, "keys", readCredential, selectCredentials+` AND ($2 = '' OR person = $2) ORDER BY created, id`, d.tenant, person)
}

// A NewCredential is a key that no signed bundle has yet.
type NewCredential struct {
	Credential
	PersonName string
}

// NewCredentials returns the keys of people who are not disabled that were neither revoked nor are among those that a
// bundle has, the newest first.
func (d *DB) NewCredentials(ctx context.Context, signed []string) ([]NewCredential, error) {
	return all(ctx, d, "new keys", func(row pgx.CollectableRow) (n NewCredential, err error) {
		c := &n.Credential
		err = row.Scan(&c.ID, &c.Person, &c.Kind, &c.Public, &c.RP, &c.AAGUID, &c.BackedUp, &c.Name,
			&c.EnrolledBy, &c.Created, &c.CountsFrom, &n.PersonName)
		return n, err
	}, `SELECT c.id, c.person, c.kind, c.public, c.rp, c.aaguid, c.backed_up, c.name,
		c.enrolled_by, c.created, c.counts_from, p.name
		FROM team.credentials c JOIN team.people p ON p.tenant = c.tenant AND p.id = c.person
		WHERE c.tenant = $1 AND c.revoked IS NULL AND p.disabled IS NULL AND c.id <> ALL($2)
		ORDER BY c.created DESC, c.id`, d.tenant, orEmpty(signed))
}

// RevokeCommand is what an administrator runs to end the key.
func (c *Credential) RevokeCommand() string {
	id := c.ID
	if !plainID.MatchString(id) { // somebody changed the row, maybe so that the administrator runs something else
		id = "'" + strings.ReplaceAll(id, "'", `'\''`) + "'"
	}
	if strings.HasPrefix(c.ID, "-") { // an id is base64, in which - is a digit
		id = "-- " + id
	}
	return "assent people revoke-key " + id
}

var plainID = regexp.MustCompile(`^[A-Za-z0-9_=-]+$`)

// RevokeCredential ends a key.
func (d *DB) RevokeCredential(ctx context.Context, id string) error {
	return d.exec(ctx, "key "+id, `UPDATE team.credentials SET revoked = coalesce(revoked, now()) WHERE tenant = $1 AND id = $2`, d.tenant, id)
}

// Invite returns a secret with which the person can enrol a key, once. It is by another person. Nonce is that of what
// they signed, which makes one invitation, or [ErrExists]; it is empty for administrators, who sign nothing.
func (d *DB) Invite(ctx context.Context, person, by, nonce string, lasts time.Duration) (secret string, err error) {
	if person == by {
		return "", errors.New("invite: somebody else has to")
	}
	secret = newID("")
	return secret, d.exec(ctx, "invite "+person, `INSERT INTO team.invitations (tenant, hash, person, made_by, nonce, expires)
		SELECT $1, $2, id, $4, NULLIF($5, ''), now() + $6 FROM team.people WHERE tenant = $1 AND id = $3 AND disabled IS NULL`,
		d.tenant, hashOf(secret), person, by, nonce, lasts)
}

// Invited returns for whom an invitation is that can still be used, and by whom.
func (d *DB) Invited(ctx context.Context, secret string) (person, by string, err error) {
	err = d.pool.QueryRow(ctx, `SELECT person, made_by FROM team.invitations
		WHERE tenant = $1 AND hash = $2 AND used IS NULL AND expires > now()`, d.tenant, hashOf(secret)).Scan(&person, &by)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrSpent
	}
	return person, by, err
}
