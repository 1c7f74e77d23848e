package policy

import (
	"path"
	"slices"
	"strings"
	"time"
)

// A Reach says how far a remembered answer goes.
type Reach string

// The reaches. The zero Reach means [ReachExact].
const (
	ReachExact  Reach = "exact"  // this very act
	ReachPrefix Reach = "prefix" // this folder, this command's prefix, or this host
	ReachTool   Reach = "tool"   // every act of this name
	// ReachProject is all code of this project: see [ActProjectCode].
	ReachProject Reach = "project"
	// ReachDomain is every host of the domain of a connection, on its port: see [Act.Domain].
	ReachDomain Reach = "domain"
)

// A Grant is an answer that is kept for a session. It names one act and
// compares names exactly, case included.
type Grant struct {
	ID      string `json:"id"`
	Session string `json:"session"`
	// Workers is the chain of workers that asked. The grant holds for that
	// worker alone, and with Shared for the workers that it calls as well.
	Workers []string `json:"workers,omitempty"`
	Shared  bool     `json:"shared,omitempty"`
	// Effect is Allow, or Deny for a denial that is remembered.
	Effect Effect `json:"type"`
	// Act is the act that was answered; of it, name, connector, folder and
	// target count, the target as far as Reach says.
	Act   Act   `json:"act"`
	Reach Reach `json:"reach"`
	// Definition is that of the tool when the answer was given.
	Definition Digest    `json:"definition,omitzero"`
	Created    time.Time `json:"created"`
	// Expires is when the grant ends to hold; zero means with its session.
	Expires time.Time `json:"expires,omitzero"`
	By      Who       `json:"by,omitzero"`
}

// String returns the grant as a rule would be written.
func (g Grant) String() string {
	text := qualified(g.Act.Connector, g.Act.Name)
	if code, ok := g.Act.ruleText(ReachProject); ok && g.Reach == ReachProject {
		return string(g.Effect) + " " + code
	}
	if g.Reach != ReachTool {
		text += "(" + g.Act.reachText(g.Reach) + ")"
	}
	return string(g.Effect) + " " + text
}

func (g *Grant) active(now time.Time) bool {
	return g.Expires.IsZero() || now.Before(g.Expires)
}

// reaches reports whether the grant is about calls like this one, by this
// worker, of a tool that is still what it was.
func (g *Grant) reaches(call *Call) bool {
	if g.Session != call.Session {
		return false
	}
	if g.Act.Connector != "" && g.Definition != call.Definition {
		return false
	}
	if g.Shared && len(call.Workers) > len(g.Workers) {
		return slices.Equal(g.Workers, call.Workers[:len(g.Workers)])
	}
	return slices.Equal(g.Workers, call.Workers)
}

func (g *Grant) sameName(act *Act) bool {
	return g.Act.Connector == act.Connector && g.Act.Name == act.Name
}

// covers reports whether an allowing grant answers the act. What is answered
// only by name is not answered by the reach of a whole tool.
func (g *Grant) covers(act *Act) bool {
	if g.Reach == ReachProject {
		return g.sameName(act) && act.plainProjectCode() && act.Project == g.Act.Project
	}
	if !g.sameName(act) || g.Act.Dir != act.Dir || act.Target.Unknown || hides(act.Target.Words) {
		return false
	}
	if act.Secret && g.Reach != ReachExact && g.Reach != "" {
		return false
	}
	switch g.Reach {
	case ReachTool:
		return !act.ByName
	case ReachDomain:
		return g.Act.sameDomain(act)
	case ReachPrefix:
		return (g.Act.ByName || !act.ByName) && g.Act.within(act)
	}
	return g.Act.Target.same(act.Target)
}

// spells reports whether the grant names at least so many words of the commands that it
// covers.
func (g *Grant) spells(words int) bool {
	switch g.Reach {
	case ReachExact, "":
		return true
	case ReachPrefix:
		return len(g.Act.prefixWords(ReachPrefix)) >= words
	}
	return false
}

// meets reports whether a remembered denial meets the act. It holds in every
// folder, and for either spelling of a file.
func (g *Grant) meets(act *Act) Match {
	if !g.sameName(act) {
		return MatchNo
	}
	switch {
	case g.Reach == ReachTool:
		return MatchYes
	case g.Reach == ReachProject && act.Project != "":
		return max(possibly(act.Target.Unknown), map[bool]Match{true: MatchYes}[act.Project == g.Act.Project])
	case g.Reach == ReachProject:
		return possibly(act.Opaque || act.Target.Unknown)
	case act.Target.Kind == KindWords && g.Act.Target.Kind == KindWords:
		return max(g.wordsPattern().meets(&act.Target), possibly(act.Target.Unknown))
	case g.Reach == ReachDomain && g.Act.sameDomain(act):
		return MatchYes
	case g.Reach == ReachPrefix && g.Act.near(act), g.Act.Target.same(act.Target), g.Act.sharesPath(act):
		return MatchYes
	}
	return possibly(act.Target.Unknown)
}

func (g *Grant) wordsPattern() wordsPattern {
	p := wordsPattern{exact: g.Reach != ReachPrefix}
	for _, w := range g.Act.prefixWords(g.Reach) {
		p.words = append(p.words, w.Text)
	}
	return p
}

// prefixWords returns the words that a reach names.
func (a *Act) prefixWords(reach Reach) []Word {
	if n := a.Prefix; reach == ReachPrefix && n > 0 && n <= len(a.Target.Words) {
		return a.Target.Words[:n]
	}
	return a.Target.Words
}

// within reports whether act lies in the folder, prefix or host of a.
func (a *Act) within(act *Act) bool {
	if a.Target.hasInput() {
		return act.Target.Kind == KindText && a.Target.Text == act.Target.Text
	}
	if a.Target.Kind != act.Target.Kind || a.Target.To != act.Target.To {
		return false
	}
	switch a.Target.Kind {
	case KindPath:
		return insideAny(folders(definite(a.Target.Written)), definite(act.Target.Written)) &&
			insideAny(folders(definite(a.Target.Resolved)), definite(act.Target.Resolved))
	case KindWords:
		prefix := a.prefixWords(ReachPrefix)
		return a.Prefix > 0 && len(act.Target.Words) >= len(prefix) &&
			slices.Equal(prefix, act.Target.Words[:len(prefix)]) && plainRest(act.Target.Words[len(prefix):])
	case KindURL:
		u, v := a.Target.URL, act.Target.URL
		return u.Method == v.Method && u.Scheme == v.Scheme && u.Host == v.Host && u.Port == v.Port
	}
	return false
}

// sameDomain reports whether act is a connection to a host of the domain of a, on the same
// port.
func (a *Act) sameDomain(act *Act) bool {
	u, v := &a.Target.URL, &act.Target.URL
	return a.Domain != "" && !act.Target.Unknown && act.Target.Kind == KindURL && v.Scheme == "" && u.Port == v.Port &&
		urlPattern{host: a.Domain}.hostMatches(v.Host)
}

// near is within for denials: one spelling in one spelling of the folder is
// enough.
func (a *Act) near(act *Act) bool {
	if a.Target.Kind == KindPath && act.Target.Kind == KindPath {
		in := folders(slices.Concat(a.Target.Written, a.Target.Resolved))
		return a.Target.To == act.Target.To && (insideAny(in, act.Target.Written) || insideAny(in, act.Target.Resolved))
	}
	return a.within(act)
}

// sharesPath reports whether the two acts have a spelling of a file in common.
func (a *Act) sharesPath(act *Act) bool {
	shares := func(x, y []string) bool {
		return slices.ContainsFunc(x, func(s string) bool { return slices.Contains(y, s) })
	}
	t, u := &a.Target, &act.Target
	return t.To == u.To && (shares(t.Written, u.Written) || shares(t.Written, u.Resolved) ||
		shares(t.Resolved, u.Written) || shares(t.Resolved, u.Resolved))
}

// definite returns the absolute spellings, if there are any: in virtual ones every
// root lies below the root named ".".
func definite(spellings []string) []string {
	if abs := slices.DeleteFunc(slices.Clone(spellings), func(s string) bool { return !path.IsAbs(s) }); len(abs) > 0 {
		return abs
	}
	return spellings
}

func folders(spellings []string) []string {
	out := make([]string, len(spellings))
	for i, s := range spellings {
		out[i] = path.Dir(s)
	}
	return out
}

func insideAny(folders, spellings []string) bool {
	for _, f := range folders {
		for _, s := range spellings {
			if inside(f, s) {
				return true
			}
		}
	}
	return false
}

func inside(folder, file string) bool {
	if folder == "." {
		return !path.IsAbs(file) && file != ".." && !strings.HasPrefix(file, "../")
	}
	rest, ok := strings.CutPrefix(file, folder)
	return ok && (rest == "" || rest[0] == '/' || strings.HasSuffix(folder, "/"))
}

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
