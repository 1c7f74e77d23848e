package approval

import (
	"errors"
	"fmt"
	"strings"

	"github.com/assent-dev/assent/policy"
)

// A Team is what a gate that has joined one holds of its team's signed policy. It reads what lies on this
// machine and waits for nobody. Whatever it fails to say refuses. It is safe for concurrent use. One that is a
// [Notifier] too has the gate look again at what waits when the policy changes.
type Team interface {
	// Reserved are the acts about which only the people decide whom the policy in force now names.
	Reserved() (*policy.Reserved, error)
	// Route says who decides about a request that is being made. With an error the call is refused, for
	// that reason.
	Route(r *Request) (*Routing, error)
	// Need is what the policy in force now asks for the request, of which Call, Acts, Origin and Created count.
	Need(r *Request) (Need, error)
	// People is the directory in force now.
	People() (Directory, error)
}

// ErrTeamDecides says that a yes was not given by those who decide about the call; match with [errors.Is].
var ErrTeamDecides = errors.New("an answer at this machine can only deny this: the team's policy names who decides")

// String says who must agree, for a sentence.
func (n Need) String() string {
	var who []string
	for _, c := range n.From {
		if c.Group == FromSponsor {
			who = append(who, "the sponsor of the agent")
		} else {
			who = append(who, fmt.Sprintf("%d of %s", c.Count, c.Group))
		}
	}
	text := strings.Join(who, " and ")
	if n.Proof != "" {
		text += ", with a " + string(n.Proof)
	}
	if n.Source != "" {
		text += " (" + n.Source + ")"
	}
	return text
}
