package hook

import (
	"testing"
	"time"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/sessions"
)

// What a person denied for the agent's session holds for commands that read many files, as it
// does in a run.
func TestADenialForTheSessionHoldsForManyFiles(t *testing.T) {
	p := newPlace(t)
	p.write("project/a.txt", "a\n")
	p.write("project/b.txt", "b\n")
	s := p.open()
	if err := s.BeginSession(t.Context(), sessions.Session{ID: "s", Kind: sessions.KindHook}); err != nil {
		t.Fatal(err)
	}
	act := policy.Act{Name: policy.ActReadFile, Target: policy.PathTarget("a.txt"), Known: true}
	err := s.AddGrants(t.Context(), policy.Grant{ID: "g", Session: "s", Effect: policy.EffectDeny, Reach: policy.ReachExact, Act: act, Created: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	for c, want := range map[string]string{"cat b.txt": "allow", "cat a.txt": "deny", "cat *.txt": "ask"} {
		wantDecision(t, p.answer(claude(t), bash(c, c)), want)
	}
}
