package policy

import (
	"slices"
	"time"
)

// A GrantSet is an immutable set of grants. The nil GrantSet is empty.
type GrantSet struct {
	grants []Grant
	allows map[nameKey][]int
	denies []int
}

type nameKey struct{ connector, name string }

// NewGrantSet returns the set of the given grants.
func NewGrantSet(grants []Grant) *GrantSet {
	s := &GrantSet{grants: slices.Clone(grants), allows: map[nameKey][]int{}}
	for i := range s.grants {
		g := &s.grants[i]
		switch g.Effect {
		case EffectAllow:
			key := nameKey{g.Act.Connector, g.Act.Name}
			s.allows[key] = append(s.allows[key], i)
		case EffectDeny:
			s.denies = append(s.denies, i)
		}
	}
	return s
}

// Grants returns the grants, oldest first.
func (s *GrantSet) Grants() []Grant {
	if s == nil {
		return nil
	}
	return slices.Clone(s.grants)
}

// allowed finds a grant that covers the act. One that covers a command has to spell so many
// words of it, 0 for any: see [Act.Own].
func (s *GrantSet) allowed(call *Call, act *Act, spells int, now time.Time) *Grant {
	if s == nil {
		return nil
	}
	for _, i := range s.allows[nameKey{act.Connector, act.Name}] {
		if g := &s.grants[i]; g.active(now) && g.reaches(call) && g.covers(act) && (spells == 0 || g.spells(spells)) {
			return g
		}
	}
	return nil
}

// denied finds the remembered denial that meets the act most strictly.
func (s *GrantSet) denied(call *Call, act *Act, now time.Time) (found *Grant, meets Match) {
	if s == nil {
		return nil, MatchNo
	}
	for _, i := range s.denies {
		g := &s.grants[i]
		if !g.active(now) || g.Session != call.Session {
			continue
		}
		if m := max(g.meets(act), possibly(act.Opaque && g.Act.Connector == "")); m > meets {
			found, meets = g, m
		}
	}
	return found, meets
}
