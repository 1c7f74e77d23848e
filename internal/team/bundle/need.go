package bundle

import (
	"fmt"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
)

// need is what the decider asks for.
func (d Decider) need(source string) approval.Need {
	n := approval.Need{Source: source, Not: d.Not, Proof: d.Proof, Expires: time.Duration(d.Expires)}
	for _, f := range d.Need {
		n.From = append(n.From, approval.Count{Group: f.From, Count: f.Count})
	}
	for _, e := range d.Escalate {
		n.Escalate = append(n.Escalate, approval.Escalation{After: time.Duration(e.After), To: e.To})
	}
	return n
}

// Deciders are those of a bundle, ready to be asked about calls.
type Deciders struct {
	needs []approval.Need
	acts  []policy.Policy // what each decides about, as denies
	all   []policy.Rule
}

// Compile returns who decides about what, ready to be asked.
func (b *Bundle) Compile() (*Deciders, error) {
	out := new(Deciders)
	for i, d := range b.Deciders {
		source := fmt.Sprintf("decider %d of %s", i+1, b.Name())
		var rules []policy.Rule
		for _, act := range d.Acts {
			rule, err := config.Act(act)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", source, err)
			}
			rule.ID, rule.Source = source, source
			rules = append(rules, rule)
		}
		set, err := policy.CompileRules(rules)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
		out.needs = append(out.needs, d.need(source))
		out.acts = append(out.acts, policy.Policy{Fixed: set})
		out.all = append(out.all, rules...)
	}
	return out, nil
}

// Reserved are the acts that somebody decides about, as denies: what meets one, or may, is theirs.
func (d *Deciders) Reserved() []policy.Rule { return d.all }

// Unreserved is who may answer a call that nobody is named for: whoever is at the machine, or the person
// behind the agent from elsewhere.
var Unreserved = approval.Need{From: []approval.Count{{Group: approval.FromSponsor, Count: 1}}, Proof: approval.StrengthDevice, Here: true}

// Need returns who must agree to a request; all whom an entry names that meets one of its acts.
func (d *Deciders) Need(r *approval.Request) approval.Need {
	var need approval.Need
	found := false
	for i, p := range d.acts {
		if !meets(p, r.Call, r.Acts) {
			continue
		}
		if !found {
			need, found = d.needs[i], true
		} else {
			need = need.And(d.needs[i])
		}
	}
	if !found {
		return Unreserved
	}
	return need
}

// meets reports whether an act is, or may be, one of those. What is asked about when it happens is met then.
func meets(p policy.Policy, call policy.Call, acts []policy.Act) bool {
	for _, act := range acts {
		met, _ := p.Denies(call, act, time.Time{})
		if met == policy.MatchYes || met == policy.MatchPossibly && !act.Later {
			return true
		}
	}
	return false
}
