package bundle

import (
	"cmp"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
)

// A Source is what an editor writes. The rest of a bundle is in the directory of the server.
type Source struct {
	// Policy is the text of a policy file, with the lines of the source.
	Policy   string
	Deciders []Decider
	MaxAge   Duration
	Stale    Stale
	KeepDays int
}

// DefaultMaxAge is that of a source which says nothing.
const DefaultMaxAge = Duration(24 * time.Hour)

// Parse reads a team.yaml. The error, if it is about what stands there, is of type [config.Problems].
func Parse(file string, data []byte) (Source, error) {
	t, err := config.LoadTeam(file, data)
	if err != nil {
		return Source{}, err
	}
	text, err := config.TeamPolicy(file, data)
	if err != nil {
		return Source{}, err
	}
	s := Source{Policy: text, MaxAge: cmp.Or(Duration(t.MaxAge), DefaultMaxAge), Stale: Stale(cmp.Or(t.Stale, string(StaleAsk))),
		KeepDays: t.KeepDays}
	var problems config.Problems
	for _, d := range t.Deciders {
		out := Decider{Acts: d.Acts, Not: d.Not, Proof: approval.Strength(d.Proof), Expires: Duration(d.Expires)}
		for _, n := range d.Need {
			out.Need = append(out.Need, From(n))
		}
		for _, e := range d.Escalate {
			out.Escalate = append(out.Escalate, Escalation{After: Duration(e.After), To: e.To})
		}
		if err := out.need("").Validate(); err != nil {
			problems = append(problems, config.ProblemAt(d.Source, "%v", err))
		}
		s.Deciders = append(s.Deciders, out)
	}
	if len(problems) > 0 {
		return Source{}, problems
	}
	return s, nil
}

// Into puts what the editor wrote into a bundle.
func (s Source) Into(b *Bundle) {
	b.Policy, b.Deciders, b.MaxAge, b.Stale, b.KeepDays = s.Policy, s.Deciders, s.MaxAge, s.Stale, s.KeepDays
}

// Source returns what the editor wrote of a bundle.
func (b *Bundle) Source() Source {
	return Source{Policy: b.Policy, Deciders: b.Deciders, MaxAge: b.MaxAge, Stale: b.Stale, KeepDays: b.KeepDays}
}
