package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Person is known by what the issuer of their sign-in calls them, never by an address that can change
// hands.
type Person struct {
	ID       string    `json:"id"`
	Issuer   string    `json:"issuer"`
	Subject  string    `json:"subject"`
	Name     string    `json:"name"`
	Groups   []string  `json:"groups,omitempty"` // those of now
	Created  time.Time `json:"created"`
	Disabled time.Time `json:"disabled,omitzero"`
	Era      int64     `json:"-"` // grows when they are disabled: what they were let in with before ends
}

const selectPeople = `SELECT p.id, p.issuer, p.subject, p.name, p.created, p.disabled, p.era,
	(SELECT coalesce(array_agg(m.group_name ORDER BY m.group_name), '{}') FROM team.memberships m
		WHERE m.tenant = p.tenant AND m.person = p.id AND m.from_time <= now() AND (m.until_time IS NULL OR m.until_time > now()))
	FROM team.people p WHERE p.tenant = $1`

func readPerson(row pgx.CollectableRow) (p Person, err error) {
	err = row.Scan(&p.ID, &p.Issuer, &p.Subject, &p.Name, &p.Created, moment(&p.Disabled), &p.Era, &p.Groups)
	return p, err
}

// AddPerson makes a person known who has not signed in yet, or returns the one who is.
func (d *DB) AddPerson(ctx context.Context, issuer, subject, name string) (Person, error) {
	if issuer == "" || subject == "" {
		return Person{}, fmt.Errorf("add person %q: issuer and subject are needed", name)
	}
	_, err := d.pool.Exec(ctx, `INSERT INTO team.people (tenant, id, issuer, subject, name) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (tenant, issuer, subject) DO NOTHING`, d.tenant, newID("p_"), issuer, subject, name)
	if err != nil {
		return Person{}, fmt.Errorf("add person %q: %w", name, err)
	}
	return d.PersonBySubject(ctx, issuer, subject)
}

// Person returns a person by id.
func (d *DB) Person(ctx context.Context, id string) (Person, error) {
	return one(ctx, d, "person "+id, readPerson, selectPeople+` AND p.id = $2`, d.tenant, id)
}

// PersonBySubject returns a person by what their issuer calls them.
func (d *DB) PersonBySubject(ctx context.Context, issuer, subject string) (Person, error) {
	return one(ctx, d, "person "+subject, readPerson, selectPeople+` AND p.issuer = $2 AND p.subject = $3`, d.tenant, issuer, subject)
}

// People returns everybody, also who is disabled.
func (d *DB) People(ctx context.Context) ([]Person, error) {
	return all(ctx, d, "people", readPerson, selectPeople+` ORDER BY p.name, p.id`, d.tenant)
}

// DisablePerson ends what a person may do at the server, with their web sessions and with what lets in keys and machines by
// them or for them, or lets them again. A vote of theirs counts until the next bundle is without them.
func (d *DB) DisablePerson(ctx context.Context, id string, disabled bool) error {
	return d.exec(ctx, "person "+id, `WITH invited AS (
			UPDATE team.invitations SET expires = now()
				WHERE $3 AND tenant = $1 AND $2 IN (person, made_by) AND used IS NULL AND expires > now()),
		joining AS (
			UPDATE team.join_tokens SET expires = now()
				WHERE $3 AND tenant = $1 AND sponsor = $2 AND used IS NULL AND expires > now())
		UPDATE team.people SET disabled = CASE WHEN $3 THEN coalesce(disabled, now()) END,
			era = era + $3::boolean::int WHERE tenant = $1 AND id = $2`, d.tenant, id, disabled)
}

// A Group is a name with the people who are in it now.
type Group struct {
	Name    string       `json:"name"`
	Members []Membership `json:"members,omitempty"`
}

// A Membership is half-open: Until is not part of it, and the zero Until never comes.
type Membership struct {
	Person string    `json:"person"`
	Source string    `json:"source"` // who or what put them there
	From   time.Time `json:"from"`
	Until  time.Time `json:"until,omitzero"`
}

// AddGroup makes a group; one that is there stays.
func (d *DB) AddGroup(ctx context.Context, name string) error {
	if name == "" {
		return fmt.Errorf("add group: the name is missing")
	}
	_, err := d.pool.Exec(ctx, `INSERT INTO team.groups (tenant, name) VALUES ($1, $2) ON CONFLICT DO NOTHING`, d.tenant, name)
	return err
}

// RemoveGroup removes a group with its memberships.
func (d *DB) RemoveGroup(ctx context.Context, name string) error {
	return d.exec(ctx, "group "+name, `DELETE FROM team.groups WHERE tenant = $1 AND name = $2`, d.tenant, name)
}

// Groups returns all groups with all memberships, also those that are over or have not begun.
func (d *DB) Groups(ctx context.Context) ([]Group, error) {
	type row struct {
		group string
		m     *Membership
	}
	rows, err := all(ctx, d, "groups", func(r pgx.CollectableRow) (out row, err error) {
		var person, source *string
		var m Membership
		err = r.Scan(&out.group, &person, &source, moment(&m.From), moment(&m.Until))
		if person != nil {
			m.Person, m.Source = *person, *source
			out.m = &m
		}
		return out, err
	}, `SELECT g.name, m.person, m.source, m.from_time, m.until_time FROM team.groups g
		LEFT JOIN team.memberships m ON m.tenant = g.tenant AND m.group_name = g.name
		WHERE g.tenant = $1 ORDER BY g.name, m.person`, d.tenant)
	if err != nil {
		return nil, err
	}
	var out []Group
	for _, r := range rows {
		if len(out) == 0 || out[len(out)-1].Name != r.group {
			out = append(out, Group{Name: r.group})
		}
		if r.m != nil {
			g := &out[len(out)-1]
			g.Members = append(g.Members, *r.m)
		}
	}
	return out, nil
}

// SetMember puts a person into a group, or changes for how long. The zero From is now.
func (d *DB) SetMember(ctx context.Context, group string, m Membership) error {
	return d.exec(ctx, fmt.Sprintf("group %s: member %s", group, m.Person),
		`INSERT INTO team.memberships (tenant, group_name, person, source, from_time, until_time)
		SELECT $1, g.name, p.id, $4, coalesce($5::timestamptz, now()), $6 FROM team.groups g, team.people p
			WHERE g.tenant = $1 AND g.name = $2 AND p.tenant = $1 AND p.id = $3
		ON CONFLICT (tenant, group_name, person) DO UPDATE SET source = excluded.source, from_time = excluded.from_time, until_time = excluded.until_time`,
		d.tenant, group, m.Person, m.Source, moment(&m.From), moment(&m.Until))
}

// RemoveMember takes a person out of a group.
func (d *DB) RemoveMember(ctx context.Context, group, person string) error {
	return d.exec(ctx, fmt.Sprintf("group %s: member %s", group, person),
		`DELETE FROM team.memberships WHERE tenant = $1 AND group_name = $2 AND person = $3`, d.tenant, group, person)
}
