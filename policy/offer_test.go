package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func offersFor(acts ...Act) []Offer {
	open := make([]int, len(acts))
	for i := range acts {
		open[i] = i
	}
	return Offers(callOf(acts[0]), acts, open)
}

func projectAct(words ...string) Act {
	a := commandAct(0, words...)
	a.Project = "/p"
	return a
}

// A rule about a project's code covers it there, and no flag that makes it something else.
func TestProjectCode(t *testing.T) {
	judge := func(a Act, rules ...string) State {
		var parsed []Rule
		for _, text := range rules {
			r, err := ParseRule(text)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, r)
		}
		set, err := CompileRules(parsed)
		if err != nil {
			t.Fatal(err)
		}
		return Policy{Rules: set}.Judge(Question{Call: callOf(a), Acts: []Act{a}}).State
	}
	spelled, unknown, away, opaque, person := projectAct("go", "test", "-exec", "x"), projectAct("make", "?"), projectAct("make"), projectAct("make"), projectAct("make")
	spelled.Target.Words[2].Spelled = true
	away.Away, opaque.Opaque, person.PersonOnly = true, true, true
	for name, c := range map[string]struct {
		act   Act
		rules []string
		want  State
	}{
		"covered":          {projectAct("make"), []string{"allow project_code(/p)"}, StateAutoApproved},
		"everywhere":       {projectAct("make"), []string{"allow project_code"}, StateAutoApproved},
		"another project":  {projectAct("make"), []string{"allow project_code(/q)"}, StatePending},
		"not its code":     {commandAct(1, "make"), []string{"allow project_code(/p)"}, StatePending},
		"a variable":       {projectAct("LD_PRELOAD=x", "make"), []string{"allow project_code(/p)"}, StatePending},
		"a spelled flag":   {spelled, []string{"allow project_code(/p)"}, StatePending},
		"an unknown word":  {unknown, []string{"allow project_code(/p)"}, StatePending},
		"elsewhere":        {away, []string{"allow project_code(/p)"}, StatePending},
		"unreadable":       {opaque, []string{"allow project_code(/p)"}, StatePending},
		"person only":      {person, []string{"allow project_code(/p)"}, StatePending},
		"denied":           {projectAct("make"), []string{"allow project_code(/p)", "deny shell(make)"}, StateAutoDenied},
		"denied by name":   {spelled, []string{"allow shell(go)", "deny project_code(/p)"}, StateAutoDenied},
		"denied elsewhere": {projectAct("make"), []string{"allow shell(make)", "deny project_code(/q)"}, StateAutoApproved},
	} {
		if got := judge(c.act, c.rules...); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	g := Grant{Effect: EffectAllow, Act: projectAct("make"), Reach: ReachProject}
	other := projectAct("npm", "test")
	other.Dir = "sub"
	if !g.covers(&other) || g.covers(&spelled) || g.covers(&away) || g.String() != "allow project_code(/p)" {
		t.Errorf("%s covers other things than this project's code", g)
	}
	if other.Project = "/q"; g.covers(&other) {
		t.Error("a grant for one project covers another")
	}
	if g.Effect = EffectDeny; g.meets(&spelled) != MatchYes || g.meets(&other) != MatchNo || g.meets(&opaque) != MatchYes {
		t.Error("a denial does not meet what it denies")
	}
}

func TestOffers(t *testing.T) {
	byName := func(a Act) Act { a.ByName = true; return a }
	personOnly := func(a Act) Act { a.PersonOnly = true; return a }
	for _, c := range []struct {
		name string
		acts []Act
		want map[Reach][]string
	}{
		{"file", []Act{pathAct("notes/a.md")}, map[Reach][]string{ReachExact: {"allow write_file(notes/a.md)"}, ReachPrefix: {"allow write_file(notes/**)"}, ReachTool: {"allow write_file"}}},
		{"file in the root folder", []Act{pathAct("a.md")}, map[Reach][]string{ReachExact: {"allow write_file(a.md)"}, ReachTool: {"allow write_file"}}},
		{"file in the root folder, by its absolute name", []Act{{Name: ActWriteFile, Target: PathTarget("a.md", "/home/u/proj/a.md"), Verdict: VerdictAsk}}, map[Reach][]string{ReachExact: {"allow write_file(a.md)"}, ReachPrefix: {"allow write_file(/home/u/proj/**)"}, ReachTool: {"allow write_file"}}},
		{"redirection", []Act{byName(pathAct("out/a"))}, map[Reach][]string{ReachExact: {"allow write_file(out/a)"}, ReachPrefix: {"allow write_file(out/**)"}}},
		{"redirection in the root folder", []Act{byName(pathAct("a"))}, map[Reach][]string{ReachExact: {"allow write_file(a)"}}},
		{"outside", []Act{byName(pathAct("/etc/x"))}, map[Reach][]string{ReachExact: {"allow write_file(/etc/x)"}, ReachPrefix: {"allow write_file(/etc/**)"}}},
		{"command", []Act{commandAct(2, "git", "push", "-f")}, map[Reach][]string{ReachExact: {"allow shell(= git push -f)"}, ReachPrefix: {"allow shell(git push)"}}},
		{"command without a prefix", []Act{commandAct(0, "make")}, map[Reach][]string{ReachExact: {"allow shell(= make)"}}},
		{"project code", []Act{projectAct("make", "test")}, map[Reach][]string{ReachExact: {"allow shell(= make test)"}, ReachProject: {"allow project_code(/p)"}}},
		{"project code, and more", []Act{projectAct("make"), {Name: ActConnect, Target: HostTarget("a.b", "22"), ByName: true}},
			map[Reach][]string{ReachExact: {"allow shell(= make)", "allow connect(a.b:22)"}, ReachProject: {"allow project_code(/p)", "allow connect(a.b:22)"}}},
		{"project code with a variable", []Act{projectAct("A=1", "make")}, map[Reach][]string{ReachExact: {"allow shell(= 'A=1' make)"}}},
		{"odd words", []Act{commandAct(1, "a=b", "*", "=", "it's", "", "x y", "$(z)")}, map[Reach][]string{ReachExact: {`allow shell(= 'a=b' '*' '=' 'it'\''s' '' 'x y' '$(z)')`}, ReachPrefix: {"allow shell('a=b')"}}},
		{"unknown word", []Act{commandAct(2, "git", "push", "?")}, nil},
		{"unknown path", []Act{{Name: ActReadFile, Target: UnknownTarget(KindPath)}}, nil},
		{"person only", []Act{personOnly(pathAct("notes/a.md"))}, map[Reach][]string{ReachExact: {"allow write_file(notes/a.md)"}}},
		{"glob characters", []Act{pathAct("n/[id]/{a,b}*?.md")}, map[Reach][]string{ReachExact: {`allow write_file(n/\[id\]/\{a,b\}\*\?.md)`}, ReachPrefix: {`allow write_file(n/\[id\]/**)`}, ReachTool: {"allow write_file"}}},
		{"odd path", []Act{pathAct(`a (b), "c"\d/e f.md`)}, map[Reach][]string{ReachExact: {`allow write_file(a (b), "c"\\d/e f.md)`}, ReachPrefix: {`allow write_file(a (b), "c"\\d/**)`}, ReachTool: {"allow write_file"}}},
		{"line break in a path", []Act{pathAct("n/a\nb")}, map[Reach][]string{ReachPrefix: {"allow write_file(n/**)"}, ReachTool: {"allow write_file"}}},
		{"share", []Act{{Name: ActShareFile, Target: PathTarget("n/a, b").SharedWith("w*")}}, map[Reach][]string{ReachExact: {`allow share_file(n/a, b, w\*)`}, ReachPrefix: {`allow share_file(n/**, w\*)`}, ReachTool: {"allow share_file"}}},
		{"request", []Act{urlAct(t, "GET", "https://a.b:8443/x*/?q=[1]")}, map[Reach][]string{ReachExact: {`allow http_request(GET https://a.b:8443/x\*/\?q=\[1\])`}, ReachPrefix: {"allow http_request(GET https://a.b:8443/**)"}, ReachTool: {"allow http_request"}}},
		{"host", []Act{byName(Act{Name: ActConnect, Target: HostTarget("a.b", "22")})}, map[Reach][]string{ReachExact: {"allow connect(a.b:22)"}}},
		{"arguments", []Act{{Connector: "c", Name: "t", Target: Target{Kind: KindArguments, Text: "sha256:1"}}}, map[Reach][]string{ReachExact: {"allow c:t(sha256:1)"}, ReachTool: {"allow c:t"}}},
		{"empty text is not the whole tool", []Act{{Name: "t", Target: TextTarget("")}}, map[Reach][]string{ReachTool: {"allow t"}}},
		{"no target is not the whole tool", []Act{{Name: ActWriteFile, Target: Target{Kind: KindPath}}}, map[Reach][]string{ReachTool: {"allow write_file"}}},
		{"a name that is a glob", []Act{{Connector: "evil", Name: "*", Target: TextTarget("x")}}, nil},
		{"a name with a set", []Act{{Connector: "evil", Name: "a[b]", Target: TextTarget("x")}}, nil},
		{"a name with a colon", []Act{{Name: "a:b", Target: TextTarget("x")}}, nil},
		{"a name with a parenthesis", []Act{{Name: "a(b", Target: TextTarget("x")}}, map[Reach][]string{ReachTool: {"allow a(b"}}},
		{"several acts", []Act{commandAct(1, "cp", "a", "d/b"), {Name: ActReadFile, Target: PathTarget("d/a")}, {Name: ActReadFile, Target: PathTarget("d/a")}},
			map[Reach][]string{ReachExact: {"allow shell(= cp a d/b)", "allow read_file(d/a)"}, ReachPrefix: {"allow shell(cp)", "allow read_file(d/**)"}, ReachTool: {"allow shell(= cp a d/b)", "allow read_file"}}},
	} {
		got := map[Reach][]string{}
		for _, o := range offersFor(c.acts...) {
			got[o.Reach] = o.Allow
		}
		if c.want == nil {
			c.want = map[Reach][]string{}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestOffersKeepTheirWord: what is offered as a rule covers the acts, denies them
// if turned round, and is never wider than it says.
func TestOffersKeepTheirWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		acts := rapid.SliceOfN(genAct, 1, 3).Draw(t, "acts")
		call := genCall(t, acts[0])
		open := make([]int, len(acts))
		for i := range acts {
			open[i] = i
		}
		for _, o := range Offers(call, acts, open) {
			allow, deny := compileTexts(t, o.Allow), compileTexts(t, o.Deny)
			if !slices.Equal(o.Acts, open) || len(o.Allow) != len(o.Deny) {
				t.Fatalf("%+v does not cover all the acts", o)
			}
			for i := range acts {
				a := &acts[i]
				if a.Target.Unknown || hasUnknown(a.Target.Words) {
					t.Fatalf("%v is offered for the unknown %s", o.Allow, a)
				}
				if allow.allowed(allowing{call: call, act: a, byName: a.ByName, now: testNow}) == nil {
					t.Fatalf("%v does not cover %s", o.Allow, a)
				}
				if _, meets := deny.denied(call, a, testNow); meets != MatchYes {
					t.Fatalf("%v does not deny %s", o.Deny, a)
				}
			}
			for _, r := range allow.Rules() {
				if r.Pattern == "shell" || r.Pattern == "shell(*)" {
					if !slices.ContainsFunc(acts, func(a Act) bool { return a.Name == ActShell && a.Target.Kind != KindWords }) {
						t.Fatalf("%s is offered", r)
					}
				}
			}
		}
	})
}

// TestExactOffersCoverNothingElse: another path, command or text is not covered
// by what is offered for exactly this one.
func TestExactOffersCoverNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		act, other := genAct.Draw(t, "act"), genAct.Draw(t, "other")
		other.Name, other.Connector = act.Name, act.Connector
		for _, o := range Offers(callOf(act), []Act{act}, []int{0}) {
			if o.Reach != ReachExact || compileTexts(t, o.Allow).allowed(allowing{call: callOf(act), act: &other, byName: other.ByName, now: testNow}) == nil {
				continue
			}
			// A rule names the first spelling, an act may have more of them.
			if act.Target.Kind == KindPath && slices.Contains(other.Target.Written, act.Target.Written[0]) {
				continue
			}
			if act.Target.Kind == other.Target.Kind && !act.Target.same(other.Target) {
				t.Fatalf("%v, offered for exactly %s, covers %s", o.Allow, act, other)
			}
		}
	})
}

func compileTexts(t *rapid.T, texts []string) *RuleSet {
	var rules []Rule
	for _, text := range texts {
		r, err := ParseRule(text)
		if err != nil {
			t.Fatalf("%s is offered: %v", text, err)
		}
		rules = append(rules, r)
	}
	set, err := CompileRules(rules)
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(texts, ", "), err)
	}
	return set
}

// What follows from a command is answered with it, so no rule for it is offered.
func TestOffersTheSmallestRules(t *testing.T) {
	acts := []Act{
		{Name: ActShell, Target: CommandTarget("cp", "a", "b"), Prefix: 1, Verdict: VerdictAsk},
		{Name: ActWriteFile, Target: PathTarget("notes/b"), Cause: 1, Verdict: VerdictAsk},
		{Name: ActWriteFile, Target: PathTarget("/etc/log"), Cause: 1, ByName: true, Verdict: VerdictAsk},
	}
	call := Call{Tool: ActShell}
	got := Offers(&call, acts, []int{0, 1, 2})
	if len(got) == 0 || !cmp.Equal(got[0].Allow, []string{"allow shell(= cp a b)", "allow write_file(/etc/log)"}) || !cmp.Equal(got[0].Acts, []int{0, 1, 2}) {
		t.Errorf("%+v", got)
	}
	set, err := CompileRules([]Rule{mustRule(t, got[0].Allow[0]), mustRule(t, got[0].Allow[1])})
	if err != nil {
		t.Fatal(err)
	}
	if j := (Policy{Rules: set}).Judge(Question{Call: &call, Acts: acts}); j.State != StateAutoApproved {
		t.Errorf("the rules do not cover the call: %s", j.State)
	}
}
