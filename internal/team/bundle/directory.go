package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/proof"
)

// A directory is who the people of a bundle are.
type directory struct {
	bundle *Bundle
	// owners has the place of each credential that counts.
	owners map[string]owner
}

type owner struct {
	person     *Person
	credential *Credential
}

// Directory returns the people, with the credentials that count at that time.
func (b *Bundle) Directory(at time.Time) approval.Directory {
	d := directory{bundle: b, owners: map[string]owner{}}
	for i := range b.People {
		p := &b.People[i]
		for j := range p.Credentials {
			if c := &p.Credentials[j]; !at.Before(c.Since) {
				d.owners[c.ID] = owner{p, c}
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
	strength, err := o.credential.verify(p)
	if err != nil {
		return approval.Person{}, "", err
	}
	return approval.Person{ID: o.person.ID, Name: o.person.Name, Groups: o.person.Groups}, strength, nil
}

// Editors implements [approval.Directory].
func (d directory) Editors() []string { return d.bundle.Editors }

// verify reports how much the proof shows.
func (c *Credential) verify(p approval.Proof) (approval.Strength, error) {
	if len(p.Public) > 0 && !bytes.Equal(p.Public, c.Public) {
		return "", proof.ErrUnknownKey
	}
	if c.Kind != Device {
		return "", errors.New("this program cannot verify passkeys yet")
	}
	return approval.StrengthDevice, proof.Verify(c.Public, proof.Answer(p.Statement), p.Signature)
}
