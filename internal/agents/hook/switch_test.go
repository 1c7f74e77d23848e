package hook

import (
	"strings"
	"testing"

	"github.com/assent-dev/assent/store"
)

// TestTheSwitchOfTheConfig has the user's own config turn asking off. What is denied stays
// so, and a mode that asks nobody does not become one that allows.
func TestTheSwitchOfTheConfig(t *testing.T) {
	p := newPlace(t)
	p.write("config/config.yaml", rules+"approvals: false\n")
	wantDecision(t, p.answer(claude(t), bash("t1", "make deploy")), "allow")
	wantDecision(t, p.answer(claude(t), bash("t2", "git push")), "deny")
	p.write("config/config.yaml", rules+"approvals: false\nmode: strict\n")
	wantDecision(t, p.answer(claude(t), bash("t3", "make deploy -k")), "deny")
	p.write("config/config.yaml", rules)
	p.write("project/.assent/policy.yaml", "approvals: false\n")
	wantBlocked(t, p.answer(claude(t), bash("t4", "make deploy")), "approvals")
}

func TestAPanicAsideIsAnError(t *testing.T) {
	if err := <-inBackground(func() error { panic("a bug") }); err == nil || !strings.Contains(err.Error(), "a bug") {
		t.Errorf("got %v", err)
	}
}

// TestAConfigThatOnlyObservesBlocksNothing has a store that cannot be used.
func TestAConfigThatOnlyObservesBlocksNothing(t *testing.T) {
	p := newPlace(t)
	p.write("config/config.yaml", "hook: {observe: true}\n")
	p.write("state/"+store.FileName, strings.Repeat("not a database ", 1000))
	if r := p.answer(claude(t), bash("t", "git push")); r.Exit != 0 || len(r.Stdout) > 0 || !strings.Contains(r.Stderr, "not recorded") {
		t.Errorf("the agent was told %d %s%s", r.Exit, r.Stdout, r.Stderr)
	}
}
