package policy

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/assent-dev/assent/internal/rounds"
)

// Targets of rules by the kind of act that they may match.
var ruleTargets = map[Kind][]string{
	KindPath: {
		"a", "a/**", "**/a", "**/*.md", "/**", "/a/", "./a//b", `a/\[id\]`, "a/[id]", "{a,b}", "{a/b,notes/*}", `\{a,b\}`, "a?b", "a*",
		`a\\b`, `a\/./b`, "a, *", "**, a", "a, b, a", "notes/**", "**/notes/*.md", `n\otes/**`, "/h/note?/**", "/h/{notes,other}/*", "[n]ot*/**", "\uFFFDab", "**/\uFFFDab*",
	},
	KindWords: {"git", "git push", "git push *", "= git push", "git -rf", "git --hard", "git 'it'\\''s'", "/bin/git", "'' a", "A=1", "A=1 git", "push"},
	KindURL: {
		"GET https://a.b/x", "https://*.b/**", "* https://*/x", "POST **", "*://a.b/**", "https://a.b:*/x", "https://*.a.b/**",
		"a.b", "a.b:443", "*.a.b:*", "*.b:443", "*:443", "**:*",
	},
	KindText:      {"a*", "a?b", "{a,b}", "git*", `a\/./b`, "*push", "*it pu*", "**/a, b"},
	KindArguments: {"sha256:*", "sha256:*1*", "*a*"},
}

var genRuleTarget = rapid.OneOf(
	rapid.SampledFrom(slices.Concat([]string{"*", "**"}, ruleTargets[KindPath], ruleTargets[KindWords], ruleTargets[KindURL], ruleTargets[KindText])),
	rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "/", "*", "?", "**", "[ab]", "[!a]", "{a,b}", `\`, " ", ", ", "git", "push", "-f", "=", "notes", ".md"}), 1, 6),
		func(parts []string) string { return strings.Join(parts, "") }),
)

// genRule returns rules of which many are about the act.
func genRule(act Act) *rapid.Generator[Rule] {
	connectors := rapid.SampledFrom([]string{
		"gh", "Gh", "g*", "*", "?h", "\u212ah", "k*",
		"workspace", "WorkSpace", "wor\u212aspace", "work*", "*SPACE", "w*kspa*", "[vw]orkspace", "work?pace", "\u212a*",
	})
	names := rapid.OneOf(genTool, rapid.SampledFrom([]string{
		"*", "*_file", "read_*", "*oo*", "*ool_*", "tool_?", "TOOL_[a-b]", "[!t]*", "worker*", "*R\u212aER*", "s[h]*", "????",
	}))
	return rapid.Custom(func(t *rapid.T) Rule {
		r := Rule{
			Effect:  rapid.SampledFrom([]Effect{EffectAllow, EffectDeny, EffectDeny, EffectExcept}).Draw(t, "effect"),
			Scope:   ScopeTool,
			Enabled: rapid.IntRange(0, 9).Draw(t, "enabled") > 0,
			Source:  rapid.SampledFrom([]string{"", "x.yaml:3", "x.yaml:4", "y.yaml:3"}).Draw(t, "source"),
			Expires: rapid.SampledFrom([]time.Time{{}, {}, {}, {}, testNow, testNow.Add(1)}).Draw(t, "expires"),
		}
		connector := act.Connector
		if connector == "" || rapid.Bool().Draw(t, "another connector") {
			connector = connectors.Draw(t, "connector")
		}
		if rapid.IntRange(0, 9).Draw(t, "connector rule") == 0 {
			r.Scope, r.Pattern = ScopeConnector, connector
			return r
		}
		if r.Pattern = act.Name; rapid.Bool().Draw(t, "another name") {
			r.Pattern = names.Draw(t, "name")
		}
		if rapid.IntRange(0, 2).Draw(t, "has connector") == 0 {
			r.Pattern = connector + ":" + r.Pattern
		}
		switch rapid.IntRange(0, 5).Draw(t, "target") {
		case 0:
			r.Pattern += "(" + genRuleTarget.Draw(t, "any target") + ")"
		case 1, 2, 3, 4:
			r.Pattern += "(" + rapid.SampledFrom(ruleTargets[act.Target.Kind]).Draw(t, "fitting target") + ")"
		}
		return r
	}).Filter(func(r Rule) bool { return r.Validate() == nil })
}

// genIndexed returns an act with all that decides where rules are looked for.
var genIndexed = rapid.Custom(func(t *rapid.T) Act {
	act := genAct.Draw(t, "act")
	if rapid.IntRange(0, 3).Draw(t, "long connector") == 0 {
		act.Connector = rapid.SampledFrom([]string{"workspace", "WORKSPACE", "wor\u212aspace", "work\u017fpace", "vorkspace"}).Draw(t, "connector")
	}
	target := &act.Target
	switch target.Kind {
	case KindWords:
		target.Loose = rapid.IntRange(0, 5).Draw(t, "loose") == 0
		if rapid.IntRange(0, 3).Draw(t, "assignment") == 0 {
			unknown := rapid.IntRange(0, 3).Draw(t, "unknown value") == 0
			target.Words = append([]Word{{Text: "A=1", Unknown: unknown}}, target.Words...)
		}
		for i := range target.Words {
			target.Words[i].Plain = target.Words[i].Unknown && rapid.Bool().Draw(t, "plain")
		}
	case KindPath:
		if rapid.IntRange(0, 3).Draw(t, "odd name") == 0 {
			target.Resolved = append(target.Resolved, rapid.SampledFrom([]string{"\xffab", "x/\xffabc", "\uFFFDab", "notes"}).Draw(t, "name"))
		}
	}
	act.Opaque = rapid.IntRange(0, 9).Draw(t, "opaque") == 0
	act.Secret = rapid.IntRange(0, 9).Draw(t, "secret") == 0
	return act
})

// A scan is what the index must find, by trying one rule after another.
type scan struct {
	compiled []compiledRule
	call     *Call
	act      *Act
}

func newScan(set *RuleSet, call *Call, act *Act) scan { return scan{set.denies.rules, call, act} }

// rules returns the rules of an effect that hold, or those that do not.
func (s scan) rules(effect Effect, active bool) iter.Seq[*compiledRule] {
	return func(yield func(*compiledRule) bool) {
		for i := range s.compiled {
			if r := s.compiled[i].rule; r.Effect == effect && r.active(testNow) == active && !yield(&s.compiled[i]) {
				return
			}
		}
	}
}

func (s scan) denied() (found *Rule, meets Match) {
	var own *Rule
	for c := range s.rules(EffectDeny, true) {
		if own == nil && c.rule.Scope == ScopeTool && !strings.Contains(beforeTarget(c.rule.Pattern), ":") {
			own = c.rule
		}
		if m := c.pattern.meets(s.act); m > meets && s.about(c) && !s.excepted(c.rule) {
			found, meets = c.rule, m
		}
	}
	if found == nil && own != nil && s.act.Opaque {
		return own, MatchPossibly
	}
	return found, meets
}

func (s scan) excepted(deny *Rule) bool {
	file, _, _ := strings.Cut(deny.Source, ":")
	for c := range s.rules(EffectExcept, true) {
		own, _, _ := strings.Cut(c.rule.Source, ":")
		if own == file && s.about(c) && c.pattern.covers(s.act, s.act.ByName) {
			return true
		}
	}
	return false
}

func (s scan) allowed(byName, withConnector bool) *Rule {
	for c := range s.rules(EffectAllow, true) {
		byTool := s.named(c, s.call.Connector, s.call.Tool) &&
			c.answers(s.act, s.call.Connector != s.act.Connector || s.call.Tool != s.act.Name, byName)
		byAct := s.named(c, s.act.Connector, s.act.Name) && c.answers(s.act, false, byName)
		if (byTool || byAct) && !(withConnector && c.pattern.anyConnector) {
			return c.rule
		}
	}
	return nil
}

func (s scan) named(c *compiledRule, connector, name string) bool {
	fold := c.rule.fold()
	return c.named(fold(connector), fold(name))
}

func (s scan) about(c *compiledRule) bool {
	return s.named(c, s.call.Connector, s.call.Tool) || s.named(c, s.act.Connector, s.act.Name)
}

// reached says by what a rule reached the act of a tool of the same name, so that
// the test can tell what it has covered.
func (s scan) reached(r *Rule) (by []string) {
	if s.call.Connector != s.act.Connector || s.call.Tool != s.act.Name {
		return nil
	}
	connector, name, _, _ := splitPattern(r.Pattern)
	if r.Scope == ScopeConnector {
		connector, name = r.Pattern, ""
		by = append(by, "connector rule")
	}
	if strings.ContainsAny(connector, "*?[") {
		by = append(by, "connector glob")
	}
	for _, pair := range [][2]string{{connector, s.act.Connector}, {name, s.act.Name}} {
		rule, act := pair[0], pair[1]
		if rule != act && foldASCII(rule) == foldASCII(act) {
			by = append(by, "other case")
		}
		if foldASCII(rule) != foldASCII(act) && foldWide(rule) == foldWide(act) {
			by = append(by, "look-alike")
		}
	}
	return by
}

// TestIndexFindsWhatAScanFinds is the proof of the index: it may skip only
// rules that do not match.
func TestIndexFindsWhatAScanFinds(t *testing.T) {
	hits := map[string]int{}
	count := func(effect Effect, s scan, r *Rule) {
		if r != nil {
			for _, by := range s.reached(r) {
				hits[string(effect)+" by "+by]++
			}
		}
		for c := range s.rules(effect, false) {
			if s.about(c) && c.pattern.covers(s.act, false) {
				hits[fmt.Sprintf("%s inactive, enabled %v", effect, c.rule.Enabled)]++
			}
		}
	}
	check := func(t *rapid.T) {
		first := genIndexed.Draw(t, "first act")
		rules := rapid.SliceOfN(genRule(first), 1, 20).Draw(t, "rules")
		for i := range rules {
			rules[i].ID = fmt.Sprint("r", i)
		}
		set, err := CompileRules(rules)
		if err != nil {
			t.Fatal(err)
		}
		for _, act := range append(rapid.SliceOfN(genIndexed, 2, 2).Draw(t, "acts"), first) {
			call := genCall(t, act)
			s := newScan(set, call, &act)
			rule, meets := set.denied(call, &act, testNow)
			wantRule, wantMeets := s.denied()
			if rule != wantRule || meets != wantMeets {
				t.Fatalf("%s by %s: denied by %v (%d), a scan finds %v (%d)", act, call.Name(), rule, meets, wantRule, wantMeets)
			}
			hits[fmt.Sprintf("deny %d %s", meets, act.Target.Kind)]++
			count(EffectDeny, s, rule)
			for c := range s.rules(EffectDeny, true) {
				if s.about(c) && c.pattern.meets(&act) != MatchNo && s.excepted(c.rule) {
					hits["excepted"]++
				}
			}
			count(EffectExcept, s, nil)
			for i := range 4 {
				byName, withConnector := i&1 > 0, i&2 > 0
				got := set.allowed(allowing{call: call, act: &act, byName: byName, withConnector: withConnector, now: testNow})
				if want := s.allowed(byName, withConnector); got != want {
					t.Fatalf("%s by %s, by name %v, with a connector %v: allowed by %v, a scan finds %v", act, call.Name(), byName, withConnector, got, want)
				}
				hits[fmt.Sprintf("allow %t %t %s", byName, got != nil, act.Target.Kind)]++
				count(EffectAllow, s, got)
			}
		}
	}
	for range rounds.N(100, 5000) {
		rapid.Check(t, check)
	}
	want := []string{"excepted", "deny by look-alike"}
	for _, kind := range []Kind{KindPath, KindWords, KindURL, KindText, KindArguments} {
		for _, found := range []string{"deny 2 ", "deny 1 ", "deny 0 ", "allow false true ", "allow true true ", "allow false false "} {
			want = append(want, found+string(kind))
		}
	}
	for _, effect := range []string{"allow", "deny"} {
		for _, by := range []string{"connector rule", "connector glob", "other case"} {
			want = append(want, effect+" by "+by)
		}
	}
	for _, effect := range []string{"allow", "deny", "except"} {
		want = append(want, effect+" inactive, enabled true", effect+" inactive, enabled false")
	}
	for _, w := range want {
		if hits[w] == 0 {
			t.Errorf("the generators never led to %q", w)
		}
	}
	if hits["allow by look-alike"] > 0 {
		t.Error("an allow reaches a look-alike of its name")
	}
}

// TestEveryRuleOfALargeSetIsFound looks each rule up by an act that is its own.
func TestEveryRuleOfALargeSetIsFound(t *testing.T) {
	const n = 2000
	for pattern, act := range map[string]func(i int) Act{
		"tool_%d":    func(i int) Act { return Act{Name: fmt.Sprint("Tool_", i), Target: TextTarget("t")} },
		"tool_%d_*":  func(i int) Act { return Act{Name: fmt.Sprintf("tool_%d_x", i), Target: TextTarget("t")} },
		"*_%d_*":     func(i int) Act { return Act{Name: fmt.Sprintf("x_%d_x", i), Target: TextTarget("t")} },
		"c%d:*":      func(i int) Act { return Act{Connector: fmt.Sprint("C", i), Name: "x", Target: TextTarget("t")} },
		"c%d:read_*": func(i int) Act { return Act{Connector: fmt.Sprint("c", i), Name: "read_x", Target: TextTarget("t")} },
		"c%d-*:read_x": func(i int) Act {
			return Act{Connector: fmt.Sprintf("c%d-x", i), Name: "read_x", Target: TextTarget("t")}
		},
		"c:read_%d_*z": func(i int) Act {
			return Act{Connector: "c", Name: fmt.Sprintf("read_%d_z", i), Target: TextTarget("t")}
		},
		"c:x(t %d)":            func(i int) Act { return Act{Connector: "c", Name: "x", Target: TextTarget(fmt.Sprint("t ", i))} },
		"write_file(a%d/**)":   func(i int) Act { return Act{Name: ActWriteFile, Target: PathTarget(fmt.Sprintf("a%d/b", i))} },
		"write_file(**/a%d/*)": func(i int) Act { return Act{Name: ActWriteFile, Target: PathTarget(fmt.Sprintf("x/a%d/b", i))} },
		"shell(program%d)":     func(i int) Act { return Act{Name: ActShell, Target: CommandTarget(fmt.Sprint("program", i), "-x")} },
		"connect(h%d.example:443)": func(i int) Act {
			return Act{Name: ActConnect, Target: HostTarget(fmt.Sprintf("h%d.example", i), "443")}
		},
		"connect(*.h%d.example:80)": func(i int) Act {
			return Act{Name: ActConnect, Target: HostTarget(fmt.Sprintf("a.b.h%d.example", i), "80")}
		},
	} {
		var rules []Rule
		for i := range n {
			rules = append(rules, mustRule(t, "deny "+fmt.Sprintf(pattern, i)), mustRule(t, "allow "+fmt.Sprintf(pattern, i)))
		}
		set := compile(t, rules...)
		for i := range n {
			act := act(i)
			rule, meets := set.denied(callOf(act), &act, testNow)
			if meets != MatchYes || rule != &set.rules[2*i] {
				t.Fatalf("%s is denied by %v (%d), want deny "+pattern, act, rule, meets, i)
			}
			if rule := set.allowed(allowing{call: callOf(act), act: &act, now: testNow}); rule != &set.rules[2*i+1] {
				t.Fatalf("%s is allowed by %v, want allow "+pattern, act, rule, i)
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
				if got := meets == MatchYes && rule.Pattern == pattern; got != g.match(name) {
					t.Errorf("deny %s on %s: found %v, the glob itself says %v", pattern, name, got, g.match(name))
				}
			}
		}
	}
}
