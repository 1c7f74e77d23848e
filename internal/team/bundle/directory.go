package bundle

import (
	"fmt"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
)

// A directory is who the people of a bundle are.
type directory struct {
	bundle *Bundle
	// owners says whose the credentials are that count.
	owners map[string]owner
}

type owner struct {
	person     *Person
	groups     []string
	credential *Credential
}

// Directory returns the people, with the credentials that count and the groups that they are in at that time.
func (b *Bundle) Directory(at time.Time) approval.Directory {
	d := directory{bundle: b, owners: map[string]owner{}}
	for i := range b.People {
		p := &b.People[i]
		groups := p.GroupsAt(at)
		for j := range p.Credentials {
			if c := &p.Credentials[j]; c.Holds(at) {
				d.owners[c.ID] = owner{p, groups, c}
			}
		}
	}
	return d
}

// Voter implements [approval.Directory].
func (d directory) Voter(p approval.Proof) (approval.Person, approval.Strength, error) {
	o, ok := d.owners[p.Credential]
	if !ok {
		return approval.Person{}, "", fmt.Errorf("%w: %q is nobody's in %s", proof.ErrUnknownKey, p.Credential, d.bundle.Name())
	}
	strength, err := proof.Verify(*o.credential, p)
	if err != nil {
		return approval.Person{}, "", err
	}
	return approval.Person{ID: o.person.ID, Name: o.person.Name, Groups: o.groups}, strength, nil
}

// Editors implements [approval.Directory].
func (d directory) Editors() []string { return d.bundle.Editors }
