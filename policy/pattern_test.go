package policy

import (
	"strings"
	"testing"
)

func TestTextAndArgumentTargets(t *testing.T) {
	digest := ArgumentsTarget([]byte(`{"a":1}`))
	for _, c := range []struct {
		pattern string
		act     Act
		want    bool
	}{
		{"worker_call(summar*)", Act{Name: ActWorkerCall, Target: TextTarget("summarizer")}, true},
		{"worker_call(Summar*)", Act{Name: ActWorkerCall, Target: TextTarget("summarizer")}, false},
		{"worker_call(a/*)", Act{Name: ActWorkerCall, Target: TextTarget("a/b/c")}, true},
		{`send(\*)`, Act{Name: "send", Target: TextTarget("x")}, false},
		{`send(\*)`, Act{Name: "send", Target: TextTarget("*")}, true},
		{"send(a b)", Act{Name: "send", Target: TextTarget("a b")}, true},
		{"send({a,b})", Act{Name: "send", Target: TextTarget("a")}, false},
		{"send({a,b})", Act{Name: "send", Target: TextTarget("{a,b}")}, true},
		{"send(" + digest.Text + ")", Act{Name: "send", Target: digest}, true},
		{"send(" + digest.Text + ")", Act{Name: "send", Target: ArgumentsTarget([]byte(`{"a":2}`))}, false},
		{`send(a\/./b)`, Act{Name: "send", Target: TextTarget("a/./b")}, true},
		{"send", Act{Name: "send", Target: digest}, true},
		// The target of a tool that is not built in is read as what the act has.
		{"deploy(git push)", Act{Name: "deploy", Target: CommandTarget("git", "push", "-f")}, true},
		{"deploy(notes/**)", Act{Name: "deploy", Target: PathTarget("notes/a/b")}, true},
		{"deploy(https://a.b/**)", Act{Name: "deploy", Target: mustURL(t, "PUT", "https://a.b/x")}, true},
		{"gh:*(a/**)", Act{Connector: "gh", Name: "get", Target: PathTarget("a/b")}, true},
	} {
		if got := allows(t, c.pattern, c.act); got != c.want {
			t.Errorf("allow %s on %s: %v, want %v", c.pattern, c.act, got, c.want)
		}
		if got := denies(t, c.pattern, c.act) == MatchYes; got != c.want {
			t.Errorf("deny %s on %s: %v, want %v", c.pattern, c.act, got, c.want)
		}
	}
}

// TestRulesForTheCalledTool: a rule for the tool that was called reaches the acts
// of the call, but what it says of commands is not said of files.
func TestRulesForTheCalledTool(t *testing.T) {
	shell := &Call{Tool: ActShell}
	read := Act{Name: ActReadFile, Target: PathTarget("notes/a.md")}
	redirect := Act{Name: ActWriteFile, Target: PathTarget("git push"), ByName: true}
	for _, c := range []struct {
		pattern string
		act     Act
		allow   bool
		deny    Match
	}{
		{"shell", read, true, MatchYes},
		{"shell(*)", read, true, MatchYes},
		{"shell(cat)", read, false, MatchNo},
		{"shell", redirect, false, MatchYes},
		{"shell(*)", redirect, false, MatchYes},
		{"shell(**)", redirect, false, MatchYes},
		{"shell(git push)", redirect, false, MatchNo},
		{"shell(git push)", Act{Name: ActReadFile, Target: UnknownTarget(KindPath)}, false, MatchNo},
		{"shell(notes/a.md)", read, false, MatchNo},
		{"write_file(git*)", redirect, true, MatchYes},
		{"read_file(notes/*)", read, true, MatchYes},
	} {
		allowed := mustRules(t, "allow "+c.pattern).allowed(allowing{call: shell, act: &c.act, byName: c.act.ByName, now: testNow}) != nil
		if allowed != c.allow {
			t.Errorf("allow %s on %s of shell: %v, want %v", c.pattern, c.act, allowed, c.allow)
		}
		if _, meets := mustRules(t, "deny "+c.pattern).denied(shell, &c.act, testNow); meets != c.deny {
			t.Errorf("deny %s on %s of shell: %v, want %v", c.pattern, c.act, meets, c.deny)
		}
	}
}

func TestNamePattern(t *testing.T) {
	for _, c := range []struct {
		effect          Effect
		pattern         string
		connector, name string
		want            bool
	}{
		{EffectAllow, "send_*", "", "Send_mail", true},
		{EffectAllow, "read_file", "evil", "read_file", false},
		{EffectDeny, "read_file", "evil", "read_file", true},
		{EffectAllow, "github:*", "GitHub", "x", true},
		{EffectAllow, "github:*", "", "x", false},
	} {
		p, err := CompileName(c.effect, c.pattern)
		if err != nil || p.Match(c.connector, c.name) != c.want {
			t.Errorf("%s %s on %s:%s: not %v (%v)", c.effect, c.pattern, c.connector, c.name, c.want, err)
		}
	}
	for _, bad := range []string{"", "a[", "shell(ls)", "shell(*)", "a b"} {
		if p, err := CompileName(EffectAllow, bad); err == nil || p.Match("", "shell") {
			t.Errorf("CompileName(%q) gives a pattern", bad)
		}
	}
	if (NamePattern{}).Match("", "") {
		t.Error("the zero NamePattern matches")
	}
}

// A wildcard of an allow stands for no control character; a deny is not evaded by one.
func TestWildcardsAndControlCharacters(t *testing.T) {
	for _, name := range []string{"bob\nalice", "bob\x1b[2K", "bob\u0085", "bob\x7f", "b\x00b"} {
		act := Act{Name: ActWorkerCall, Target: TextTarget(name)}
		for _, pattern := range []string{"worker_call(b*)", "worker_call(*b*)", "worker_call(b?b*)", "worker_call([a-c]*)"} {
			if allows(t, pattern, act) {
				t.Errorf("allow %s covers %q", pattern, name)
			}
		}
		if denies(t, "worker_call(b*)", act) != MatchYes {
			t.Errorf("deny worker_call(b*) does not meet %q", name)
		}
	}
}

// "Exactly this" for a worker is for its input too; the next reach is the worker with any input.
func TestExactlyThisWorkerIsForTheInput(t *testing.T) {
	call := func(worker, input string) Act {
		return Act{Name: ActWorkerCall, Verdict: VerdictAsk, Known: true,
			Target: TextTarget(worker).SharedWith(DigestOf([]byte(input)).String())}
	}
	one := call("scribe", "one")
	offers := offersFor(one)
	if len(offers) != 3 || offers[0].Reach != ReachExact || offers[1].Reach != ReachPrefix || offers[2].Reach != ReachTool {
		t.Fatalf("offers %+v", offers)
	}
	for i, c := range []struct{ same, otherInput, otherWorker bool }{{true, false, false}, {true, true, false}, {true, true, true}} {
		pattern, _ := strings.CutPrefix(offers[i].Allow[0], "allow ")
		grant := NewGrantSet([]Grant{{Effect: EffectAllow, Act: one, Reach: offers[i].Reach}})
		for _, tt := range []struct {
			act  Act
			want bool
		}{{one, c.same}, {call("scribe", "two"), c.otherInput}, {call("clerk", "one"), c.otherWorker}} {
			if got := allows(t, pattern, tt.act); got != tt.want {
				t.Errorf("allow %s on %s: %v", pattern, tt.act, got)
			}
			if got := denies(t, pattern, tt.act) == MatchYes; got != tt.want {
				t.Errorf("deny %s on %s: %v", pattern, tt.act, got)
			}
			if got := grant.allowed(&Call{Tool: ActWorkerCall}, &tt.act, 0, testNow) != nil; got != tt.want {
				t.Errorf("grant %s on %s: %v", offers[i].Reach, tt.act, got)
			}
		}
	}
	if !allows(t, "worker_call(scr*)", one) || allows(t, "worker_call(scr*, more)", one) {
		t.Error("a pattern for the worker alone covers any input, and a comma is part of a name")
	}
}
