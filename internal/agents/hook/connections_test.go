package hook

import (
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/policy"
)

// The connections of a command that an agent runs itself are remembered with it, for the session
// and for good, and the person is told so.
func TestConnectionsAreRememberedWithTheirCommand(t *testing.T) {
	for name, keep := range map[string]func(*approval.Request) approval.Decision{
		"session": func(r *approval.Request) approval.Decision { return r.Approve("").ForSession(policy.ReachPrefix) },
		"always": func(r *approval.Request) approval.Decision {
			d := r.Approve("").Always()
			d.Remember.Reach = policy.ReachPrefix
			return d
		},
	} {
		for _, command := range []string{"npm install", "git push", "gh pr list", "terraform init"} {
			t.Run(name+" "+command, func(t *testing.T) {
				p := newPlace(t)
				p.write("config/config.yaml", "sandbox:\n  network: true\n")
				s := p.inbox()
				got := make(chan agents.Reply, 1)
				go func() { got <- p.answer(claude(t), bash("t1", command)) }()
				r := p.next(s)
				said := ""
				for _, o := range r.Offers {
					if o.Reach == policy.ReachPrefix {
						said = strings.Join(append(o.Allow, o.Warn...), "; ")
					}
				}
				words := strings.Join(strings.Fields(command)[:2], " ")
				if !strings.Contains(said, "allow shell("+words) || !strings.Contains(said, "includes the connections of "+words) {
					t.Errorf("it is offered as %q", said)
				}
				d := keep(r)
				d.By = policy.Who{User: "u", Via: policy.ViaInbox}
				if err := s.Answer(t.Context(), d); err != nil {
					t.Fatal(err)
				}
				wantDecision(t, <-got, "allow")
				wantDecision(t, p.answer(claude(t), bash("t2", command)), "allow")
			})
		}
	}
}
