package bundle

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// A Membership is the time that a person is in a group. From is part of it and Until is not. A zero From means that it
// has begun, a zero Until that it does not end. Whoever counts a vote looks at the time by their own clock, so a
// membership begins and ends without another bundle.
type Membership struct {
	Group string    `json:"group"`
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// Holds reports whether the membership holds at that time.
func (m Membership) Holds(at time.Time) bool {
	return !at.Before(m.From) && (m.Until.IsZero() || at.Before(m.Until))
}

// String says which group it is and when.
func (m Membership) String() string {
	text := m.Group
	if !m.From.IsZero() {
		text += " from " + m.From.UTC().Format(time.RFC3339)
	}
	if !m.Until.IsZero() {
		text += " until " + m.Until.UTC().Format(time.RFC3339)
	}
	return text
}

func (m Membership) validate() error {
	switch {
	case m.From.IsZero() && m.Until.IsZero():
		return errors.New("it has no dates; write it as one of the groups")
	case !m.Until.IsZero() && !m.Until.After(m.From):
		return errors.New("it must end after it begins")
	}
	return nil
}

// GroupsAt returns the groups that the person is in at that time.
func (p *Person) GroupsAt(at time.Time) []string {
	out := slices.Clip(p.Groups)
	for _, m := range p.Memberships {
		if m.Holds(at) {
			out = append(out, m.Group)
		}
	}
	return out
}

// allGroups returns the groups that the person is in at any time.
func (p *Person) allGroups() []string {
	out := slices.Clip(p.Groups)
	for _, m := range p.Memberships {
		out = append(out, m.Group)
	}
	return out
}

// validGroups refuses a group that is there twice: it would be unclear which of the two times holds.
func (p *Person) validGroups() error {
	seen := map[string]bool{}
	for _, g := range p.allGroups() {
		switch {
		case g == "" || slices.Contains(words, g):
			return fmt.Errorf("group %q: the name is empty, or policies use this word for something else", g)
		case seen[g]:
			return fmt.Errorf("the group %s is there twice", g)
		}
		seen[g] = true
	}
	for _, m := range p.Memberships {
		if err := m.validate(); err != nil {
			return fmt.Errorf("membership in %s: %w", m.Group, err)
		}
	}
	return nil
}
