package policy

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Helpers that the tests of the values share, and generators of rules and acts
// from an alphabet so small that matches are common.

var testNow = time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)

func mustRule(t testing.TB, text string) Rule {
	t.Helper()
	r, err := ParseRule(text)
	if err != nil {
		t.Fatalf("ParseRule(%q): %v", text, err)
	}
	return r
}

func mustRules(t testing.TB, texts ...string) *RuleSet {
	t.Helper()
	rules := make([]Rule, len(texts))
	for i, text := range texts {
		rules[i] = mustRule(t, text)
	}
	set, err := CompileRules(rules)
	if err != nil {
		t.Fatalf("CompileRules(%q): %v", texts, err)
	}
	return set
}

func mustURL(t testing.TB, method, url string) Target {
	t.Helper()
	target, err := URLTarget(method, url)
	if err != nil {
		t.Fatalf("URLTarget(%q, %q): %v", method, url, err)
	}
	return target
}

// callOf returns the call of a tool that performs just this act.
func callOf(act Act) *Call { return &Call{Connector: act.Connector, Tool: act.Name} }

func allows(t testing.TB, rule string, act Act) bool {
	t.Helper()
	return mustRules(t, "allow "+rule).allowed(allowing{call: callOf(act), act: &act, byName: act.ByName, now: testNow}) != nil
}

func denies(t testing.TB, rule string, act Act) Match {
	t.Helper()
	_, meets := mustRules(t, "deny "+rule).denied(callOf(act), &act, testNow)
	return meets
}

// words returns a command's target; the word ? is unknown.
func words(list ...string) Target {
	t := CommandTarget(list...)
	for i, w := range list {
		if w == "?" {
			t.Words[i] = Word{Unknown: true}
		}
	}
	return t
}

var (
	genWord = rapid.SampledFrom([]string{"git", "/bin/git", "push", "stash", "-f", "-rf", "--hard", "--har", "a", "", "*", "it's"})
	genPath = rapid.SampledFrom([]string{"a", "a/b", "/a/b", "a/[id]", "a/i", "a, b", "notes/a.md", "/h/notes/a.md", "b", "{a,b}", `a\b`})
	genText = rapid.SampledFrom([]string{"", "a", "a/b", "a/./b", "ab", "{a,b}", "a, b", "git push", "*", "sha256:1"})
	genURL  = rapid.SampledFrom([]string{"https://a.b/x", "https://A.b:443/x?y=1", "http://c.a.b/", "https://a.b:8443/x/../y", "https://a.b/%2e%2e/x"})
	genTool = rapid.SampledFrom([]string{"read_file", "write_file", "share_file", "shell", "http_request", "connect", "worker_call", "edit_file", "tool_a", "TOOL_a", "tool_b", "wor\u212aer_call"})
	genConn = rapid.SampledFrom([]string{"", "", "gh", "GH", "ghe", "\u212ah"})
)

var genTarget = rapid.Custom(func(t *rapid.T) Target {
	var target Target
	switch rapid.SampledFrom([]Kind{KindPath, KindWords, KindURL, KindText, KindArguments}).Draw(t, "kind") {
	case KindPath:
		written := rapid.SliceOfN(genPath, 1, 2).Draw(t, "written")
		target = PathTarget(written...)
		if rapid.Bool().Draw(t, "link") {
			target = LinkTarget(written, rapid.SliceOfN(genPath, 1, 2).Draw(t, "resolved"))
		}
		if rapid.Bool().Draw(t, "shared") {
			target = target.SharedWith(genText.Draw(t, "to"))
		}
	case KindWords:
		target = CommandTarget(rapid.SliceOfN(genWord, 0, 4).Draw(t, "words")...)
		for i := range target.Words {
			if rapid.IntRange(0, 9).Draw(t, "unknown word") == 0 {
				target.Words[i] = Word{Unknown: true}
			}
		}
	case KindURL:
		var err error
		if target, err = URLTarget(rapid.SampledFrom([]string{"get", "POST"}).Draw(t, "method"), genURL.Draw(t, "url")); err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "bare") {
			target = HostTarget(target.URL.Host, target.URL.Port)
		}
	case KindText:
		target = TextTarget(genText.Draw(t, "text"))
	case KindArguments:
		target = ArgumentsTarget([]byte(genText.Draw(t, "arguments")))
	}
	target.Unknown = target.Unknown || rapid.IntRange(0, 9).Draw(t, "unknown") == 0
	return target
})

var genAct = rapid.Custom(func(t *rapid.T) Act {
	return Act{
		Name: genTool.Draw(t, "name"), Connector: genConn.Draw(t, "connector"), Target: genTarget.Draw(t, "target"),
		ByName: rapid.Bool().Draw(t, "by name"), Prefix: rapid.IntRange(0, 3).Draw(t, "prefix"), Verdict: VerdictAsk,
	}
})

// genCall returns a call that performs the act, under its name or another.
func genCall(t *rapid.T, act Act) *Call {
	if rapid.Bool().Draw(t, "own name") {
		return callOf(act)
	}
	return &Call{Connector: genConn.Draw(t, "call's connector"), Tool: genTool.Draw(t, "call's tool")}
}
