package approval_test

import (
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// connecting are the acts of a command and of a connection of its own. An empty host is not
// known; own is how many words an allow has to spell.
func connecting(host string, own, prefix int, words ...string) []policy.Act {
	command := commandAct(words...)
	command.Prefix = prefix
	connect := policy.Act{Name: policy.ActConnect, Target: policy.UnknownTarget(policy.KindURL), Verdict: policy.VerdictAsk, ByName: true, Cause: 1, Own: own, Why: "no rule allows this host"}
	if host != "" {
		connect.Target, connect.Known = policy.HostTarget(host, "443"), true
	}
	return []policy.Act{command, connect}
}

func TestAnAllowThatSpellsACommandAnswersItsConnections(t *testing.T) {
	preset := connecting("", 2, 2, "npm", "install")
	preset[0].Verdict = policy.VerdictFree
	person := connecting("", 2, 2, "npm", "install")
	person[1].PersonOnly = true
	away := connecting("", 2, 2, "npm", "install")
	away[0].Away = true
	project := connecting("", 2, 2, "npm", "install")
	project[0].Project = "/p"
	staged := connecting("registry.example", 0, 2, "npm", "install")
	other := append(connecting("", 2, 2, "npm", "install"), commandAct("ls"))
	other[1].Cause = 3 // not of npm
	for name, c := range map[string]struct {
		acts  []policy.Act
		rules []string
		want  policy.State
	}{
		"program and subcommand":              {connecting("", 2, 2, "npm", "install"), []string{"allow shell(npm install)"}, policy.StateAutoApproved},
		"with more words":                     {connecting("", 2, 2, "npm", "install", "left-pad"), []string{"allow shell(npm install)"}, policy.StateAutoApproved},
		"a known host":                        {connecting("registry.example", 2, 2, "npm", "install"), []string{"allow shell(npm install)"}, policy.StateAutoApproved},
		"any rest":                            {connecting("", 2, 2, "npm", "install"), []string{"allow shell(npm install *)"}, policy.StateAutoApproved},
		"exactly":                             {connecting("", 3, 2, "npm", "install", "x"), []string{"allow shell(= npm install x)"}, policy.StateAutoApproved},
		"a bare program":                      {connecting("", 2, 2, "npm", "install"), []string{"allow shell(npm)"}, policy.StatePending},
		"a wildcard behind the program":       {connecting("", 2, 2, "npm", "install"), []string{"allow shell(npm *)"}, policy.StatePending},
		"a wildcard":                          {connecting("", 2, 2, "npm", "install"), []string{"allow shell(*)"}, policy.StatePending},
		"every command":                       {connecting("", 2, 2, "npm", "install"), []string{"allow shell"}, policy.StatePending},
		"the project's code":                  {project, []string{"allow project_code(/p)"}, policy.StatePending},
		"a bare program besides the host":     {connecting("registry.example", 2, 2, "npm", "install"), []string{"allow shell(npm)", "allow connect(registry.example:443)"}, policy.StateAutoApproved},
		"a bare program exactly":              {connecting("", 2, 1, "yarn"), []string{"allow shell(= yarn)"}, policy.StateAutoApproved},
		"the command is free":                 {preset, []string{"allow shell(npm install)"}, policy.StateAutoApproved},
		"a host that is denied":               {connecting("evil.example", 2, 2, "npm", "install"), []string{"allow shell(npm install)", "deny connect(evil.example)"}, policy.StateAutoDenied},
		"a host that may be one that is":      {connecting("", 2, 2, "npm", "install"), []string{"allow shell(npm install)", "deny connect(evil.example)"}, policy.StatePending},
		"for a person only":                   {person, []string{"allow shell(npm install)"}, policy.StatePending},
		"where no rule holds":                 {away, []string{"allow shell(npm install)"}, policy.StatePending},
		"on a stage":                          {staged, []string{"allow shell(npm install)"}, policy.StatePending},
		"a URL that the rule spells":          {connecting("a.example", 2, 1, "curl", "https://a.example/x"), []string{"allow shell(curl https://a.example/x)"}, policy.StateAutoApproved},
		"a second URL that it does not spell": {connecting("b.example", 3, 1, "curl", "https://a.example/x", "https://b.example/"), []string{"allow shell(curl https://a.example/x)"}, policy.StatePending},
		"the connection of another command":   {other, []string{"allow shell(npm install)", "allow shell(ls)"}, policy.StatePending},
	} {
		f := newFixture(t)
		for _, text := range c.rules {
			f.addRule(text)
		}
		f.tools.Set("shell", approval.Proposal{Acts: c.acts})
		if o := f.Review(t.Context(), call("shell", "x")).Outcome(0); o.State != c.want {
			t.Errorf("%s: %s (%s), want %s", name, o.State, o.Why, c.want)
		}
	}
}

// What is offered is kept: the session and the rules answer the connection too, and the
// person is told so.
func TestConnectionsAreRememberedWithTheirCommand(t *testing.T) {
	free := connecting("", 2, 2, "npm", "install", "x")
	free[0].Verdict = policy.VerdictFree
	for name, c := range map[string]struct {
		acts  []policy.Act
		reach policy.Reach
		rules string // that always saves
		warn  string
	}{
		"this command":         {connecting("", 2, 2, "npm", "install", "x"), policy.ReachExact, "allow shell(= npm install x)", "connections of npm install x to any host"},
		"all like it":          {connecting("", 2, 2, "npm", "install", "x"), policy.ReachPrefix, "allow shell(npm install)", "connections of npm install to any host"},
		"a known host":         {connecting("git.example", 2, 2, "git", "push"), policy.ReachPrefix, "allow shell(git push)", "connections of git push, now to git.example:443"},
		"a free command":       {free, policy.ReachPrefix, "allow shell(npm install)", "connections of npm install to any host"},
		"a prefix that is not": {connecting("a.example", 2, 1, "curl", "https://a.example/"), policy.ReachPrefix, "allow shell(curl), allow connect(a.example:443)", ""},
	} {
		for _, keep := range []string{"session", "always"} {
			f := newFixture(t)
			f.tools.Set("shell", approval.Proposal{Acts: c.acts})
			b, r := f.pending(call("shell", "x"))
			d := r.Approve("").ForSession(c.reach)
			if keep == "always" {
				d = r.Approve("").Always()
				d.Remember.Reach = c.reach
			}
			for _, o := range r.Offers {
				if o.Reach != c.reach {
					continue
				}
				if got := strings.Join(o.Allow, ", "); got != c.rules {
					t.Errorf("%s: offered as %s, want %s", name, got, c.rules)
				}
				if got := strings.Join(o.Warn, " "); !strings.Contains(got, c.warn) || c.warn == "" && got != "" {
					t.Errorf("%s: it says %q, want %q", name, got, c.warn)
				}
			}
			f.resolve(b, d)
			o := f.Review(t.Context(), call("shell", "again")).Outcome(0)
			if want := map[string]policy.State{"session": policy.StateSessionApproved, "always": policy.StateAutoApproved}[keep]; o.State != want {
				t.Errorf("%s for %s: then it is %s (%s), want %s", name, keep, o.State, o.Why, want)
			}
		}
	}
}

// What is left for later is asked with the rest of a call, and never asked alone.
func TestLaterIsAskedWithTheRest(t *testing.T) {
	acts := connecting("registry.example", 0, 2, "npm", "install")
	acts[1].Later = true
	free := connecting("registry.example", 0, 2, "npm", "install")
	free[0].Verdict, free[1].Later = policy.VerdictFree, true
	for name, c := range map[string]struct {
		acts  []policy.Act
		rules []string
		mode  policy.Mode
		want  policy.State
		open  int
	}{
		"with the rest":        {acts, nil, policy.ModeAsk, policy.StatePending, 2},
		"alone":                {free, nil, policy.ModeAsk, policy.StateFree, 0},
		"alone in strict":      {free, nil, policy.ModeStrict, policy.StateFree, 0},
		"the rest is allowed":  {acts, []string{"allow shell(npm)"}, policy.ModeAsk, policy.StateAutoApproved, 0},
		"a deny still holds":   {free, []string{"deny connect(registry.example)"}, policy.ModeAsk, policy.StateAutoDenied, 0},
		"and strict the rest":  {acts, nil, policy.ModeStrict, policy.StateModeDenied, 0},
		"the host is asked by": {acts, []string{"allow connect(registry.example:443)"}, policy.ModeAsk, policy.StatePending, 1},
	} {
		f := newFixture(t, withMode(c.mode))
		for _, text := range c.rules {
			f.addRule(text)
		}
		f.tools.Set("shell", approval.Proposal{Acts: c.acts})
		b := f.Review(t.Context(), call("shell", "x"))
		o, open := b.Outcome(0), 0
		for _, r := range b.Pending() {
			open = len(r.Open)
		}
		if o.State != c.want || open != c.open {
			t.Errorf("%s: %s with %d open (%s), want %s with %d", name, o.State, open, o.Why, c.want, c.open)
		}
	}
}
