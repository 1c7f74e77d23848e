package terminal

import (
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// What people of a team decide about says who they are, and takes nothing but a denial.
func TestATeamDecides(t *testing.T) {
	for _, size := range [][2]int{{80, 40}, {100, 8}} { // the second one is too small for a yes in any case
		f := newFixture(t, "diff", "bash")
		r := f.batch.Pending()[0]
		need := approval.Need{From: []approval.Count{{Group: "sre", Count: 2}}, Proof: approval.StrengthPasskey}
		r.Routing = &approval.Routing{Tenant: "acme", Sponsor: "p_ann", Need: need}
		p := f.play(t, size[0], size[1])
		p.wants("Waiting for the team: 2 of sre, with a passkey. Here you can only deny it.")
		for _, key := range []string{"[y]", "[s]", "[a]", "[e]", "[r]", "[c]"} {
			if strings.Contains(p.screen(), key) {
				t.Errorf("%s is offered:\n%s", key, p.screen())
			}
		}
		for _, key := range []string{"y", "Y", "s", "S", "a", "e", "r", "c"} {
			p.keys(key)
			p.wants("Nobody at this machine can approve this")
			if got := f.state(0); got != policy.StatePending || p.state.dialog != nil {
				t.Fatalf("%s: %s, and %T is open", key, got, p.state.dialog)
			}
		}
		p.keys("A")
		p.wants("(the team decides)")
		p.keys("<esc>")
		p.event(sizeEvent{80, 40})
		p.keys("?")
		p.wants("No rule, grant, mode or answer at this machine allows this")
		p.keys("<esc>", "n")
		if got := f.state(0); got != policy.StateDenied {
			t.Errorf("after n: %s", got)
		}
		p.wants("[y] approve once") // the next one is an ordinary one
	}
}
