package admin

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/team/bundle"
	"github.com/assent-dev/assent/internal/team/db"
)

// A Directory is who belongs to a team, as the server has it. None of it counts before somebody signs it.
type Directory struct {
	Tenant      string          `json:"tenant"`
	People      []db.Person     `json:"people"`
	Groups      []db.Group      `json:"groups"`
	Credentials []db.Credential `json:"credentials"`
	Gates       []db.Gate       `json:"gates"`
	Agents      []db.Agent      `json:"agents"`
	// Now is the time by the database's clock.
	Now time.Time `json:"now"`
	// LogKey is the public half of the key that signs checkpoints, URL how the server is reached.
	LogKey string `json:"log_key"`
	URL    string `json:"url"`
}

// An Edition is what becomes a bundle.
type Edition struct {
	Source    bundle.Source
	Directory Directory
	// Before is the newest bundle, nil if there is none.
	Before *bundle.Bundle
	// Editors are the ids of those who wrote the source. They are needed where there are several people.
	Editors []string
	// Valid is how long the bundle holds.
	Valid time.Duration
}

// Next makes the next bundle. The notes say what was left out, and what somebody should look at.
func (e Edition) Next() (b *bundle.Bundle, notes []string, err error) {
	d := e.Directory
	b = &bundle.Bundle{Version: bundle.Version, Tenant: d.Tenant, Serial: 1, Issued: d.Now.UTC().Truncate(time.Second),
		Checkpoint: d.LogKey, Server: d.URL}
	if e.Before != nil {
		b.Serial = e.Before.Serial + 1
	}
	b.Expires = b.Issued.Add(e.Valid)
	e.Source.Into(b)
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	e.people(b, note)
	e.machines(b, note)
	if b.Editors, err = e.editors(b); err != nil {
		return nil, nil, err
	}
	reachable(b, note)
	if after := b.Keep(); after > 0 && (e.Before == nil || e.Before.Keep() == 0 || after < e.Before.Keep()) {
		note("Within an hour the server deletes records and settled requests that are older than %d days.", b.KeepDays)
	}
	return b, notes, b.Validate()
}

func (e Edition) people(b *bundle.Bundle, note func(string, ...any)) {
	d := e.Directory
	for _, p := range d.People {
		if !p.Disabled.IsZero() {
			continue
		}
		out := bundle.Person{ID: p.ID, Name: p.Name}
		e.groups(&out)
		for _, c := range d.Credentials {
			key := bundle.Credential{ID: c.ID, Kind: proof.Kind(c.Kind), Public: c.Public, RP: c.RP, Since: c.CountsFrom.UTC().Truncate(time.Second)}
			invalid := key.Validate()
			switch {
			case c.Person != p.ID || !c.Revoked.IsZero():
			case c.CountsFrom.After(d.Now):
				note("The %s %q of %s (%s), let in by %s, is left out: "+
					"it was added %s and waits until %s. If %s did not add it: %s", c.Kind, c.Name,
					p.ID, c.ID, c.EnrolledBy, when(c.Created), when(c.CountsFrom), p.Name, c.RevokeCommand())
			case invalid != nil:
				note("A key of %s is left out: %v.", p.ID, invalid)
			default:
				out.Credentials = append(out.Credentials, key)
				if !e.signed(key) {
					note("This signs in a new key, the %s %q of %s (%s), "+
						"let in by %s, added %s. If %s did not add it: %s", c.Kind, c.Name,
						p.ID, c.ID, c.EnrolledBy, when(c.Created), p.Name, c.RevokeCommand())
				}
			}
		}
		b.People = append(b.People, out)
	}
	slices.SortFunc(b.People, func(a, b bundle.Person) int { return strings.Compare(a.ID, b.ID) })
}

// signed reports whether the bundle before has the key.
func (e Edition) signed(key bundle.Credential) bool {
	return e.Before != nil && slices.ContainsFunc(e.Before.People, func(p bundle.Person) bool {
		return slices.ContainsFunc(p.Credentials, func(c bundle.Credential) bool {
			return c.ID == key.ID && bytes.Equal(c.Public, key.Public)
		})
	})
}

// groups puts a person into the groups that they are in now or later. What is over is left out, and so is a time that has
// come already: a machine whose clock is slow need not wait for it again.
func (e Edition) groups(p *bundle.Person) {
	for _, g := range e.Directory.Groups {
		for _, m := range g.Members {
			if m.Person != p.ID || !m.Until.IsZero() && !m.Until.After(e.Directory.Now) {
				continue
			}
			out := bundle.Membership{Group: g.Name}
			if m.From.After(e.Directory.Now) {
				out.From = m.From.UTC()
			}
			if !m.Until.IsZero() {
				out.Until = m.Until.UTC()
			}
			if out.From.IsZero() && out.Until.IsZero() {
				p.Groups = append(p.Groups, g.Name)
			} else {
				p.Memberships = append(p.Memberships, out)
			}
		}
	}
}

func when(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

func (e Edition) machines(b *bundle.Bundle, note func(string, ...any)) {
	for _, g := range e.Directory.Gates {
		if !g.Revoked.IsZero() {
			continue
		}
		if b.Person(g.Sponsor) == nil {
			note("The machine %s (%s) is left out: its sponsor %s is disabled.", g.ID, g.Host, g.Sponsor)
			continue
		}
		out := bundle.Machine{ID: g.ID, Public: g.Public, Host: g.Host, Sponsor: g.Sponsor}
		for _, a := range e.Directory.Agents {
			switch {
			case a.Gate != g.ID:
			case b.Person(a.Sponsor) == nil:
				note("The agent %s on %s has the machine's sponsor %s: its own, %s, is disabled.", a.Name, g.ID, g.Sponsor, a.Sponsor)
			default:
				out.Agents = append(out.Agents, bundle.Agent{Name: a.Name, Sponsor: a.Sponsor})
			}
		}
		b.Machines = append(b.Machines, out)
	}
	slices.SortFunc(b.Machines, func(a, b bundle.Machine) int { return strings.Compare(a.ID, b.ID) })
}

// errNoEditor says that nobody is named who wrote the policy.
var errNoEditor = errors.New("missing --editor: name the person who wrote this policy")

func (e Edition) editors(b *bundle.Bundle) ([]string, error) {
	if len(e.Editors) == 0 {
		switch len(b.People) {
		case 0:
			return nil, nil
		case 1:
			return []string{b.People[0].ID}, nil
		}
		return nil, errNoEditor
	}
	var out []string
	for _, id := range e.Editors {
		if b.Person(id) == nil {
			return nil, fmt.Errorf("editor %q is not one of the people; see 'assent people list'", id)
		}
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out, nil
}

// reachable notes deciders that not enough people can fill, now or from some time on: their calls can only be denied.
func reachable(b *bundle.Bundle, note func(string, ...any)) {
	times := changeTimes(b)
	for i, d := range b.Deciders {
		for _, f := range d.Need {
			if f.From == approval.FromSponsor {
				continue
			}
			for _, at := range times {
				can := able(b, d, f.From, at)
				which, short := "", f.Count-len(can)
				// A machine takes its sponsor away, and no more than one.
				if short == 0 && slices.Contains(d.Not, approval.NotSponsor) &&
					slices.ContainsFunc(b.Machines, func(m bundle.Machine) bool { return slices.Contains(can, m.Sponsor) }) {
					which, short = ", one of them the sponsor of a machine", 1
				}
				if short <= 0 {
					continue
				}
				since, whose := "", "its calls"
				if at.After(b.Issued) {
					since = "from " + when(at) + " on "
				}
				if which != "" {
					whose = "calls of that machine"
				}
				note("Decider %d needs %d of %s with a %s, and %s%d can%s: %s can only be denied, or wait for an escalation.",
					i+1, f.Count, f.From, d.Proof, since, len(can), which, whose)
				break
			}
		}
		for _, not := range d.Not {
			if not != approval.NotSponsor && not != approval.NotEditor && b.Person(not) == nil {
				note("Decider %d leaves out %s, who is not one of the people.", i+1, not)
			}
		}
	}
}

// changeTimes are when the bundle is issued and when memberships begin or end while it holds, in order.
func changeTimes(b *bundle.Bundle) []time.Time {
	out := []time.Time{b.Issued}
	for _, p := range b.People {
		for _, m := range p.Memberships {
			for _, at := range []time.Time{m.From, m.Until} {
				if at.After(b.Issued) && at.Before(b.Expires) {
					out = append(out, at)
				}
			}
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	return slices.CompactFunc(out, time.Time.Equal) // a shift ends for many at once
}

// able are the people of a group who can say yes for a decider at that time.
func able(b *bundle.Bundle, d bundle.Decider, group string, at time.Time) (ids []string) {
	for _, p := range b.People {
		out := slices.Contains(d.Not, p.ID) || slices.Contains(d.Not, approval.NotEditor) && slices.Contains(b.Editors, p.ID)
		proves := d.Proof == approval.StrengthSession || canProve(p, d.Proof)
		if !out && proves && slices.Contains(p.GroupsAt(at), group) {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

func canProve(p bundle.Person, proof approval.Strength) bool {
	return slices.ContainsFunc(p.Credentials, func(c bundle.Credential) bool { return approval.Strength(c.Kind).AtLeast(proof) })
}
