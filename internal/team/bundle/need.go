package bundle

import (
	"fmt"
	"time"

	"github.com/assent-dev/assent/approval"
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

// source names a decider, for reasons.
func (b *Bundle) source(i int) string { return fmt.Sprintf("decider %d of %s", i+1, b.Name()) }

// Reservations are the acts that somebody is named for, in the order of the deciders.
func (b *Bundle) Reservations() []policy.Reservation {
	out := make([]policy.Reservation, len(b.Deciders))
	for i, d := range b.Deciders {
		source := b.source(i)
		out[i] = policy.Reservation{Acts: d.Acts, Source: source, Because: "this needs " + d.need(source).String()}
	}
	return out
}

// Unreserved is who may answer a call that nobody is named for: whoever is at the machine, or the person
// behind the agent from elsewhere.
func Unreserved() approval.Need {
	return approval.Need{From: []approval.Count{{Group: approval.FromSponsor, Count: 1}}, Proof: approval.StrengthDevice, Here: true}
}

// Need joins what some of the deciders ask for, by their indices; with none anybody may answer who can today.
func (b *Bundle) Need(met []int) approval.Need {
	if len(met) == 0 {
		return Unreserved()
	}
	need := b.Deciders[met[0]].need(b.source(met[0]))
	for _, i := range met[1:] {
		need = need.And(b.Deciders[i].need(b.source(i)))
	}
	return need
}
