package bundle

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
)

// A Bundle is everything that a team says.
type Bundle struct {
	Version int    `json:"version"`
	Tenant  string `json:"tenant"`
	// Serial rises by one with each bundle of the team; the first has 1.
	Serial  int64     `json:"serial"`
	Issued  time.Time `json:"issued"`
	Expires time.Time `json:"expires"`
	// MaxAge is how long a machine goes by the bundle without hearing that it is still the newest.
	MaxAge Duration `json:"max_age"`
	// Stale says what then happens to calls that would run unasked.
	Stale Stale `json:"stale"`
	// KeepDays is how long the server keeps records and settled requests; 0 keeps all.
	KeepDays int `json:"keep_days,omitempty"`
	// Editors are the ids of those who wrote the policy and the deciders.
	Editors []string `json:"editors"`
	// Policy is the text of a policy file. Its lines are those of the file that the editors wrote.
	Policy   string    `json:"policy"`
	Deciders []Decider `json:"deciders,omitempty"`
	People   []Person  `json:"people,omitempty"`
	Machines []Machine `json:"machines,omitempty"`
	// Checkpoint is the key that the server signs its checkpoints with, as note writes one.
	Checkpoint string `json:"checkpoint,omitempty"`
	Server     string `json:"server,omitempty"`
}

// A Stale is what happens to calls that would run unasked once a bundle is too old, or where there is none.
type Stale string

// What there is.
const (
	StaleAsk  Stale = "ask"
	StaleDeny Stale = "deny"
)

// A Decider says who decides about some acts. Nothing but their answer lets such a call run.
type Decider struct {
	// Acts are patterns as in rules, such as "shell(kubectl delete *)".
	Acts     []string          `json:"acts"`
	Need     []From            `json:"need"`
	Not      []string          `json:"not,omitempty"`
	Proof    approval.Strength `json:"proof"`
	Escalate []Escalation      `json:"escalate,omitempty"`
	Expires  Duration          `json:"expires,omitzero"`
}

// A From is how many of a group must agree.
type From struct {
	From  string `json:"from"`
	Count int    `json:"count"`
}

// An Escalation lets another group stand in after some time.
type Escalation struct {
	After Duration `json:"after"`
	To    string   `json:"to"`
}

// A Person is somebody of the team.
type Person struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Groups are those that the person is in whatever the time, Memberships those with dates.
	Groups      []string     `json:"groups,omitempty"`
	Memberships []Membership `json:"memberships,omitempty"`
	Credentials []Credential `json:"credentials,omitempty"`
}

// A Credential is a key that a person answers with. Whose it is says where it stands.
type Credential = proof.Credential

// A Machine is one that has joined: it may ask, and never answers.
type Machine struct {
	ID     string `json:"id"`
	Public []byte `json:"public"` // Ed25519
	Host   string `json:"host"`
	// Sponsor is the person behind everything that asks on the machine, but for agents that have another.
	Sponsor string  `json:"sponsor"`
	Agents  []Agent `json:"agents,omitempty"`
}

// An Agent is one of a machine, with the person behind it.
type Agent struct {
	Name    string `json:"name"`
	Sponsor string `json:"sponsor"`
}

// A Duration is written as text, such as 24h.
type Duration time.Duration

// MarshalText implements [encoding.TextMarshaler].
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

func (d Duration) String() string {
	text := time.Duration(d).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Validate reports why no machine could go by the bundle.
func (b *Bundle) Validate() error {
	switch {
	case b.Version != Version:
		return fmt.Errorf("it has version %d; this program knows version %d", b.Version, Version)
	case b.Tenant == "":
		return errors.New("it has no tenant")
	case b.Serial < 1:
		return fmt.Errorf("serial %d: the first is 1", b.Serial)
	case b.Issued.IsZero() || !b.Expires.After(b.Issued):
		return errors.New("issued and expires must be set, and expires must be the later one")
	case b.MaxAge <= 0:
		return errors.New("max_age must be more than 0")
	case b.Stale != StaleAsk && b.Stale != StaleDeny:
		return fmt.Errorf("stale %q: use ask or deny", string(b.Stale))
	case b.KeepDays < 0 || b.KeepDays > maxKeepDays:
		return fmt.Errorf("keep_days %d: use 1 to %d, or leave it out to keep all", b.KeepDays, maxKeepDays)
	}
	for i, d := range b.Deciders {
		if len(d.Acts) == 0 {
			return fmt.Errorf("decider %d names no acts", i+1)
		}
		if err := d.need("").Validate(); err != nil {
			return fmt.Errorf("decider %d: %w", i+1, err)
		}
		if err := b.validNot(d.Not); err != nil {
			return fmt.Errorf("decider %d: %w", i+1, err)
		}
	}
	if err := b.validPeople(); err != nil {
		return err
	}
	return b.validMachines()
}

// maxKeepDays is a hundred years: more would overflow a [time.Duration], and could then mean a short time.
const maxKeepDays = 36_525

// Keep is how long the server keeps records and settled requests; 0 keeps all.
func (b *Bundle) Keep() time.Duration { return time.Duration(b.KeepDays) * 24 * time.Hour }

// words are taken where a person or a group could stand.
var words = []string{approval.NotSponsor, approval.NotEditor, approval.FromSponsor, Nobody}

// Nobody stands for the person behind an agent while no policy says who that is. Nobody can answer as such.
const Nobody = "nobody"

// validNot refuses what somebody wrote to leave people out, and what would leave out nobody.
func (b *Bundle) validNot(not []string) error {
	for _, who := range not {
		inGroup := func(p Person) bool { return slices.Contains(p.allGroups(), who) }
		switch {
		case who == approval.NotSponsor || who == approval.NotEditor || b.Person(who) != nil:
		case slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(strings.TrimSpace(who), w) }):
			return fmt.Errorf("not %q: write sponsor or editor", who)
		case who == "" || slices.ContainsFunc(b.People, inGroup):
			return fmt.Errorf("not %q: use sponsor, editor or the ids of persons; groups are not possible here", who)
		}
		if who == approval.NotEditor && len(b.Editors) == 0 {
			return errors.New("not editor: the bundle names no editors")
		}
	}
	return nil
}

func (b *Bundle) validPeople() error {
	ids, credentials, keys := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, p := range b.People {
		switch {
		case p.ID == "" || p.Name == "":
			return fmt.Errorf("person %q (%s) needs an id and a name", p.ID, p.Name)
		case ids[p.ID]:
			return fmt.Errorf("two persons have the id %s", p.ID)
		case slices.Contains(words, p.ID):
			return fmt.Errorf("person %q: policies use this word for something else", p.ID)
		}
		if err := p.validGroups(); err != nil {
			return fmt.Errorf("person %s: %w", p.ID, err)
		}
		ids[p.ID] = true
		for _, c := range p.Credentials {
			if err := c.Validate(); err != nil {
				return fmt.Errorf("person %s: %w", p.ID, err)
			}
			// One key under two names would let one person answer as two.
			if credentials[c.ID] || keys[string(c.Public)] || c.Person != "" && c.Person != p.ID {
				return fmt.Errorf("the credential %s of %s, or its key, is duplicated or belongs to somebody else", c.ID, p.ID)
			}
			credentials[c.ID], keys[string(c.Public)] = true, true
		}
	}
	return nil
}

func (b *Bundle) validMachines() error {
	ids := map[string]bool{}
	for _, m := range b.Machines {
		switch {
		case m.ID == "":
			return errors.New("a machine has no id")
		case ids[m.ID]:
			return fmt.Errorf("two machines have the id %s", m.ID)
		case b.Person(m.Sponsor) == nil:
			return fmt.Errorf("machine %s: its sponsor %q is not one of the people", m.ID, m.Sponsor)
		}
		ids[m.ID] = true
		names := map[string]bool{}
		for _, a := range m.Agents {
			if a.Name == "" || names[a.Name] || b.Person(a.Sponsor) == nil {
				return fmt.Errorf("machine %s: agent %q has no name, is duplicated, or its sponsor %q is not one of the people",
					m.ID, a.Name, a.Sponsor)
			}
			names[a.Name] = true
		}
	}
	return nil
}

// Person returns the person with an id; nil if there is none.
func (b *Bundle) Person(id string) *Person {
	i := slices.IndexFunc(b.People, func(p Person) bool { return p.ID == id })
	if i < 0 {
		return nil
	}
	return &b.People[i]
}

// CredentialIDs returns the ids of everybody's keys, also of those that do not count yet.
func (b *Bundle) CredentialIDs() (ids []string) {
	for _, p := range b.People {
		for _, c := range p.Credentials {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// Machine returns the machine with an id; nil if there is none.
func (b *Bundle) Machine(id string) *Machine {
	i := slices.IndexFunc(b.Machines, func(m Machine) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return &b.Machines[i]
}

// Behind returns the person behind an agent of the machine.
func (m *Machine) Behind(agent string) string {
	if i := slices.IndexFunc(m.Agents, func(a Agent) bool { return a.Name == agent }); i >= 0 {
		return m.Agents[i].Sponsor
	}
	return m.Sponsor
}

// Name is how reasons call the policy.
func (b *Bundle) Name() string { return fmt.Sprintf("the team's policy %d", b.Serial) }
