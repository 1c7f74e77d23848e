package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/policy"
)

// What the source of a team's policy says about its deciders is held against its own rules and examples.
func TestDecidersOfATeamsSource(t *testing.T) {
	const deciders = "deciders:\n  - acts: [\"shell(kubectl delete *)\", \"github:*\"]\n    need: [{from: sre, count: 2}]\n"
	const folder = "sandbox: {paths: {.: {root: /tmp}}}\n"
	for name, c := range map[string]struct{ text, want string }{
		"fine":             {deciders + "rules: [allow shell(kubectl)]\n", ""},
		"an allow":         {deciders + "rules: [allow shell(kubectl delete pod)]\n", "team.yaml:4: warning: allow shell(kubectl delete pod) never applies: this needs 2 of sre (team.yaml:2)"},
		"an allow by name": {deciders + "rules: ['allow github:*']\n", "never applies: this needs 2 of sre"},
		"in shell":         {deciders + folder + "shell: {rules: [{pattern: kubectl delete pod, approval: allow}]}\n", "allow shell(kubectl delete pod) never applies"},
		"a deny":           {deciders + "rules: [deny shell(kubectl)]\n", "team.yaml:2: warning: nobody is asked about shell(kubectl delete *): deny shell(kubectl) (team.yaml:4) denies all of it"},
		"an example":       {strings.Replace(deciders, "github:*", "write_file(./x)", 1) + "sandbox: {paths: {.: {root: /tmp, mode: rw, approval: {write: allow}}}}\nexpect: [allow write_file(x)]\n", "is ask: this needs 2 of sre"},
	} {
		got := findings(t, "team.yaml", c.text)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// On a machine of a team a file is held against those whom the policy in force names.
func TestDecidersOfTheMachinesTeam(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte("rules: [allow shell(kubectl delete pod), deny shell(kubectl delete node)]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	reserved := policy.Reservation{Acts: []string{"shell(kubectl delete *)"}, Source: "decider 1 of the team's policy 7", Because: "this needs 2 of sre"}
	found, err := File(t.Context(), path, "", nil, setting, reserved)
	if err != nil || len(found) != 1 || !strings.Contains(found[0].Text, "never applies: this needs 2 of sre") {
		t.Errorf("%v %v", found, err)
	}
}
