package approval

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assent-dev/assent/internal/rounds"
)

var genRuleTarget = rapid.OneOf(
	rapid.SampledFrom([]string{
		"*", "**", "a", "a/**", "**/a", "**/*.md", "/**", "/a/", "./a//b", `a/\[id\]`, "a/[id]", "{a,b}", "{a/b,notes/*}", `\{a,b\}`,
		"a?b", "a*", `a\\b`, `a\/./b`, "a, *", "**, a", "a, b, a", "sha256:*", "git", "git push", "git push *", "= git push",
		"git -rf", "git --hard", "git 'it'\\''s'", "/bin/git", "'' a", "GET https://a.b/x", "https://*.b/**", "* https://*/x",
		"POST **", "*://a.b/**", "https://a.b:*/x", "a.b", "a.b:443", "*.a.b:*", "*:443",
	}),
	rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "/", "*", "?", "**", "[ab]", "[!a]", "{a,b}", `\`, " ", ", ", "git", "push", "-f", "="}), 1, 6),
		func(parts []string) string { return strings.Join(parts, "") }),
)

var genRule = rapid.Custom(func(t *rapid.T) Rule {
	r := Rule{
		Effect:  rapid.SampledFrom([]Effect{Allow, Deny, Deny, Except}).Draw(t, "effect"),
		Scope:   ScopeTool,
		Enabled: rapid.IntRange(0, 9).Draw(t, "enabled") > 0,
		Source:  rapid.SampledFrom([]string{"", "x.yaml:3", "x.yaml:4", "y.yaml:3"}).Draw(t, "source"),
		Expires: rapid.SampledFrom([]time.Time{{}, {}, {}, testNow, testNow.Add(1)}).Draw(t, "expires"),
	}
	connector := rapid.SampledFrom([]string{"gh", "Gh", "g*", "*", "?h", "\u212ah", "k*"})
	if rapid.IntRange(0, 9).Draw(t, "connector rule") == 0 {
		r.Scope, r.Pattern = ScopeConnector, connector.Draw(t, "connector")
		return r
	}
	r.Pattern = rapid.OneOf(genTool, rapid.SampledFrom([]string{
		"*", "*_file", "read_*", "*oo*", "tool_?", "TOOL_[a-b]", "[!t]*", "worker*", "s[h]*", "????",
	})).Draw(t, "name")
	if rapid.Bool().Draw(t, "has connector") {
		r.Pattern = connector.Draw(t, "connector") + ":" + r.Pattern
	}
	if rapid.IntRange(0, 3).Draw(t, "has target") > 0 {
		r.Pattern += "(" + genRuleTarget.Draw(t, "target") + ")"
	}
	return r
}).Filter(func(r Rule) bool { return r.Validate() == nil })

// scanDenied is what denied must find, by trying one rule after another.
func scanDenied(s *RuleSet, call *Call, act *Act) (found *Rule, meets Meets) {
	for i := range s.denies.rules {
		c := &s.denies.rules[i]
		if !c.rule.active(testNow) || !aboutCall(c, call, act) || scanExcepted(s, c.rule, call, act) {
			continue
		}
		if m := c.pattern.meets(act); m > meets {
			found, meets = c.rule, m
		}
	}
	return found, meets
}

func scanExcepted(s *RuleSet, deny *Rule, call *Call, act *Act) bool {
	file, _, _ := strings.Cut(deny.Source, ":")
	for i := range s.except.rules {
		c := &s.except.rules[i]
		own, _, _ := strings.Cut(c.rule.Source, ":")
		if c.rule.active(testNow) && own == file && aboutCall(c, call, act) && c.pattern.covers(act, act.ByName) {
			return true
		}
	}
	return false
}

func scanAllowed(s *RuleSet, call *Call, act *Act, byName bool) *Rule {
	for i := range s.allows.rules {
		c := &s.allows.rules[i]
		if !c.rule.active(testNow) {
			continue
		}
		byTool := c.named(call.Connector, call.Tool, c.rule.fold()) &&
			c.answers(act, call.Connector != act.Connector || call.Tool != act.Name, byName)
		if byTool || c.named(act.Connector, act.Name, c.rule.fold()) && c.answers(act, false, byName) {
			return c.rule
		}
	}
	return nil
}

func aboutCall(c *compiledRule, call *Call, act *Act) bool {
	return c.named(call.Connector, call.Tool, c.rule.fold()) || c.named(act.Connector, act.Name, c.rule.fold())
}

// TestIndexFindsWhatAScanFinds is the proof of the index: it may skip only
// rules that do not match.
func TestIndexFindsWhatAScanFinds(t *testing.T) {
	hits := map[string]int{}
	check := func(t *rapid.T) {
		rules := rapid.SliceOfN(genRule, 1, 30).Draw(t, "rules")
		for i := range rules {
			rules[i].ID = fmt.Sprint("r", i)
		}
		set, err := CompileRules(rules)
		if err != nil {
			t.Fatal(err)
		}
		for range 8 {
			act := genAct.Draw(t, "act")
			call := genCall(t, act)
			rule, meets := set.denied(call, &act, testNow)
			wantRule, wantMeets := scanDenied(set, call, &act)
			if rule != wantRule || meets != wantMeets {
				t.Fatalf("%s by %s: denied by %v (%d), a scan finds %v (%d)", act, call.Name(), rule, meets, wantRule, wantMeets)
			}
			hits[fmt.Sprintf("deny %d %s", meets, act.Target.Kind)]++
			for _, byName := range []bool{false, true} {
				got, want := set.allowed(allowing{call: call, act: &act, byName: byName, now: testNow}), scanAllowed(set, call, &act, byName)
				if got != want {
					t.Fatalf("%s by %s, by name %v: allowed by %v, a scan finds %v", act, call.Name(), byName, got, want)
				}
				hits[fmt.Sprintf("allow %t %t %s", byName, got != nil, act.Target.Kind)]++
			}
		}
	}
	for range rounds.N(100, 2000) {
		rapid.Check(t, check)
	}
	for _, kind := range []Kind{Path, Words, URL, Text, Arguments} {
		for _, found := range []string{"deny 2 ", "deny 1 ", "deny 0 ", "allow false true ", "allow true true ", "allow false false "} {
			if hits[found+string(kind)] == 0 {
				t.Errorf("the generators never led to %q for targets of kind %s", found, kind)
			}
		}
	}
}

// TestGramsOfEveryLength looks patterns up whose only plain text is short.
func TestGramsOfEveryLength(t *testing.T) {
	for _, plain := range []string{"a", "ab", "abc", "abcd", "abcde", "é", "éé", "日本"} {
		for _, pattern := range []string{plain + "*", "*" + plain, "*" + plain + "*", "?" + plain + "*", "*" + plain + "?", "[x]" + plain + "*"} {
			set := mustRules(t, "deny other", "deny "+pattern, "deny *zzz*")
			for _, name := range []string{plain, "x" + plain, plain + "x", "x" + plain + "x", "xx" + plain, "x"} {
				act := Act{Name: name, Target: TextTarget("t")}
				g, err := compileGlob(pattern, false)
				if err != nil {
					t.Fatal(err)
				}
				rule, meets := set.denied(callOf(act), &act, testNow)
				if got := meets == Yes && rule.Pattern == pattern; got != g.match(name) {
					t.Errorf("deny %s on %s: found %v, the glob itself says %v", pattern, name, got, g.match(name))
				}
			}
		}
	}
}
