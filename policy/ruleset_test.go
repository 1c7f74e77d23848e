package policy

import (
	"testing"
	"time"
)

func compile(t *testing.T, rules ...Rule) *RuleSet {
	t.Helper()
	set, err := CompileRules(rules)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestRulesThatDoNotHoldDoNothing(t *testing.T) {
	act := Act{Name: "send", Target: TextTarget("x")}
	for name, c := range map[string]struct {
		change func(*Rule)
		want   bool
	}{
		"enabled":         {func(*Rule) {}, true},
		"disabled":        {func(r *Rule) { r.Enabled = false }, false},
		"expires later":   {func(r *Rule) { r.Expires = testNow.Add(time.Nanosecond) }, true},
		"expires now":     {func(r *Rule) { r.Expires = testNow }, false},
		"expired earlier": {func(r *Rule) { r.Expires = testNow.Add(-time.Hour) }, false},
		// The call of the test has no project.
		"of a project": {func(r *Rule) { r.Project = "/home/ann/shop" }, false},
	} {
		for _, text := range []string{"send", "send(x)", "s*"} {
			allow, deny := mustRule(t, "allow "+text), mustRule(t, "deny "+text)
			c.change(&allow)
			c.change(&deny)
			set := compile(t, allow, deny)
			if got := set.allowed(allowing{call: callOf(act), act: &act, now: testNow}) != nil; got != c.want {
				t.Errorf("%s: allow %s holds: %v", name, text, got)
			}
			if _, meets := set.denied(callOf(act), &act, testNow); (meets == MatchYes) != c.want {
				t.Errorf("%s: deny %s holds: %v", name, text, meets)
			}
		}
	}
}

func TestTheStrictestThenTheEarliestDenyIsNamed(t *testing.T) {
	act := Act{Name: ActShell, Target: words("git", "?")}
	set := mustRules(t, "deny shell(git push)", "deny shell(git)", "deny sh*")
	if rule, meets := set.denied(callOf(act), &act, testNow); meets != MatchYes || rule.Pattern != "shell(git)" {
		t.Errorf("denied by %v, %v", rule, meets)
	}
	set = mustRules(t, "allow s*", "allow shell", "allow shell(git)")
	act.Target = words("git")
	if rule := set.allowed(allowing{call: callOf(act), act: &act, now: testNow}); rule == nil || rule.Pattern != "s*" {
		t.Errorf("allowed by %v", rule)
	}
}

func TestExceptLiftsDeniesOfItsOwnFile(t *testing.T) {
	rule := func(text, source string) Rule {
		r := mustRule(t, text)
		r.Source = source
		return r
	}
	deny := rule("deny read_file(**/.env.*)", "p.yaml:3")
	act := Act{Name: ActReadFile, Target: PathTarget("a/.env.example")}
	other := Act{Name: ActReadFile, Target: PathTarget("a/.env.local")}
	link := Act{Name: ActReadFile, Target: LinkTarget([]string{"a/.env.example"}, []string{"a/.env.local"})}
	secret := act
	secret.ByName = true
	example := "except read_file(**/.env.example)"
	disabled := rule(example, "p.yaml:9")
	disabled.Enabled = false
	for name, c := range map[string]struct {
		rules []Rule
		act   Act
		want  Match
	}{
		"no exception":            {[]Rule{deny}, act, MatchYes},
		"same file":               {[]Rule{deny, rule(example, "p.yaml:9")}, act, MatchNo},
		"another file":            {[]Rule{deny, rule(example, "q.yaml:3")}, act, MatchYes},
		"another target":          {[]Rule{deny, rule(example, "p.yaml:9")}, other, MatchYes},
		"link to a denied file":   {[]Rule{deny, rule(example, "p.yaml:9")}, link, MatchYes},
		"disabled":                {[]Rule{deny, disabled}, act, MatchYes},
		"unknown target":          {[]Rule{deny, rule(example, "p.yaml:9")}, Act{Name: ActReadFile, Target: UnknownTarget(KindPath)}, MatchPossibly},
		"a second deny elsewhere": {[]Rule{deny, rule("deny read_file", "q.yaml:1"), rule(example, "p.yaml:9")}, act, MatchYes},
		"bare, for a secret":      {[]Rule{deny, rule("except read_file", "p.yaml:9")}, secret, MatchYes},
		"by name, for a secret":   {[]Rule{deny, rule(example, "p.yaml:9")}, secret, MatchNo},
	} {
		if _, meets := compile(t, c.rules...).denied(callOf(c.act), &c.act, testNow); meets != c.want {
			t.Errorf("%s: %v, want %v", name, meets, c.want)
		}
	}
	exact := compile(t, rule("deny shell(git)", "f:1"), rule("except shell(git status)", "f:2"), rule("except shell(git log *)", "f:3"))
	for command, want := range map[string]Match{"status": MatchNo, "log": MatchNo, "push": MatchYes} {
		act := Act{Name: ActShell, Target: words("git", command)}
		if _, meets := exact.denied(callOf(act), &act, testNow); meets != want {
			t.Errorf("git %s: %v, want %v", command, meets, want)
		}
		act.Target = words("git", command, "-x")
		if _, meets := exact.denied(callOf(act), &act, testNow); (meets == MatchNo) != (command == "log") {
			t.Errorf("git %s -x: %v", command, meets)
		}
	}
	if allowed := exact.allowed(allowing{call: &Call{Tool: ActShell}, act: &Act{Name: ActShell, Target: words("git", "status")}, now: testNow}); allowed != nil {
		t.Error("an exception allows")
	}
}

func TestSourceFile(t *testing.T) {
	for source, want := range map[string]string{"a.yaml:3": "a.yaml", "a.yaml": "a.yaml", "": "", "a:b": "a:b", "a:": "a:"} {
		if got := sourceFile(source); got != want {
			t.Errorf("sourceFile(%q) = %q, want %q", source, got, want)
		}
	}
}

func TestNilSetsAreEmpty(t *testing.T) {
	var rules *RuleSet
	var grants *GrantSet
	act := Act{Name: "x", Target: TextTarget("x")}
	if r, m := rules.denied(callOf(act), &act, testNow); r != nil || m != MatchNo || rules.allowed(allowing{call: callOf(act), act: &act, now: testNow}) != nil || len(rules.Rules()) != 0 {
		t.Error("the nil RuleSet has rules")
	}
	if g, m := grants.denied(callOf(act), &act, testNow); g != nil || m != MatchNo || grants.allowed(callOf(act), &act, 0, testNow) != nil || len(grants.Grants()) != 0 {
		t.Error("the nil GrantSet has grants")
	}
}
