package people

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
	"github.com/assent-dev/assent/present"
)

// A court has the newest bundle that the team's key signed. It is safe for concurrent use.
type court struct {
	db    *db.DB
	trust string
	clock func() time.Time

	mu     sync.Mutex
	newest *bundle.Bundle
	read   time.Time
}

// fresh is how long a bundle is taken for the newest without looking, if nobody says that there is another.
const fresh = time.Second

// watch looks again as soon as the database says that there is a bundle.
func (c *court) watch(ctx context.Context) {
	c.db.Watch(ctx, func(changes db.Changes) {
		if changes.Bundle {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.read = time.Time{}
		}
	})
}

// bundle returns the newest bundle, or nil while there is none.
func (c *court) bundle(ctx context.Context) (*bundle.Bundle, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.read) < fresh {
		return c.newest, nil
	}
	row, err := c.db.Newest(ctx, bundle.Serials(c.db.Tenant(), c.trust))
	switch {
	case errors.Is(err, db.ErrNotFound): // somebody took rows away; who has a newer one keeps it
	case err != nil:
		return nil, err
	case c.newest == nil || row.Serial > c.newest.Serial:
		if c.newest, err = bundle.OpenFor(c.db.Tenant(), row.Note, c.trust); err != nil {
			return nil, err
		}
	}
	c.read = time.Now()
	return c.newest, nil
}

// A bench is the bundle in force with what is asked of it.
type bench struct {
	*bundle.Bundle
	people approval.Directory
	now    time.Time
}

func (c *court) sits(ctx context.Context) (*bench, error) {
	b, err := c.bundle(ctx)
	if err != nil {
		return nil, err
	}
	if b == nil {
		b = &bundle.Bundle{}
	}
	now := c.clock()
	return &bench{b, b.Directory(now), now}, nil
}

// court is what the database counts votes with.
func (b *bench) court() db.Court {
	return db.Court{People: b.people, Gate: b.key}
}

// key is that of a machine.
func (b *bench) key(id string) ed25519.PublicKey {
	if m := b.Machine(id); m != nil {
		return m.Public
	}
	return nil
}

// host is what people call a machine.
func (b *bench) host(id string) string {
	if m := b.Machine(id); m != nil && m.Host != "" {
		return present.SafeLine(m.Host)
	}
	return present.SafeLine(id)
}

// name is what people call a person.
func (b *bench) name(id string) string {
	if p := b.Person(id); p != nil {
		return present.SafeLine(p.Name)
	}
	return present.SafeLine(id)
}

func (b *bench) names(ids []string) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = b.name(id)
	}
	return strings.Join(out, ", ")
}

// person is somebody as the bundle knows them now; without groups if it does not.
func (b *bench) person(p db.Person) approval.Person {
	if known := b.Person(p.ID); known != nil {
		return approval.Person{ID: known.ID, Name: known.Name, Groups: known.GroupsAt(b.now)}
	}
	return approval.Person{ID: p.ID, Name: p.Name}
}

// passkeys are those of a person that count now.
func (b *bench) passkeys(id string) (out []proof.Credential) {
	p := b.Person(id)
	if p == nil {
		return nil
	}
	for _, c := range p.Credentials {
		if c.Kind == proof.KindPasskey && c.Holds(b.now) {
			out = append(out, c)
		}
	}
	return out
}

// needs says who must agree, and who does not count: "2 of sre, not Ann".
func (b *bench) needs(need approval.Need, sponsor string) string {
	var who []string
	for _, c := range need.From {
		if c.Group == approval.FromSponsor {
			who = append(who, sponsor+", the sponsor")
		} else {
			who = append(who, fmt.Sprintf("%d of %s", c.Count, present.SafeLine(c.Group)))
		}
	}
	text := strings.Join(who, " and ")
	var not []string
	for _, id := range need.Not {
		switch id {
		case approval.NotSponsor:
			not = append(not, sponsor)
		case approval.NotEditor:
			for _, e := range b.Editors {
				not = append(not, b.name(e))
			}
		default:
			not = append(not, b.name(id))
		}
	}
	slices.Sort(not)
	if not = slices.Compact(not); len(not) > 0 && sponsor != "" {
		text += ", not " + strings.Join(not, " or ")
	}
	for _, e := range need.Escalate {
		text += fmt.Sprintf(", after %s also %s", bundle.Duration(e.After), present.SafeLine(e.To))
	}
	return text
}

// missing says how many are still needed: "1 more of sre".
func missing(t approval.Tally) string {
	var out []string
	for _, m := range t.Missing {
		group := present.SafeLine(m.Group)
		if m.Group == approval.FromSponsor {
			out = append(out, "the sponsor")
		} else {
			out = append(out, fmt.Sprintf("%d more of %s", m.Count, group))
		}
	}
	return strings.Join(out, " and ")
}
