package bundle

import (
	"fmt"
	"time"

	"github.com/assent-dev/assent/approval"
)

// need is what a decider asks for.
func (b *Bundle) need(i int) approval.Need {
	d := b.Deciders[i]
	n := approval.Need{Source: fmt.Sprintf("decider %d of %s", i+1, b.Name()), Not: d.Not, Proof: d.Proof, Expires: time.Duration(d.Expires)}
	for _, f := range d.Need {
		n.From = append(n.From, approval.Count{Group: f.From, Count: f.Count})
	}
	for _, e := range d.Escalate {
		n.Escalate = append(n.Escalate, approval.Escalation{After: time.Duration(e.After), To: e.To})
	}
	return n
}
