package policy

import "testing"

func command(t *testing.T, text string) CommandPattern {
	t.Helper()
	p, err := CompileCommand(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAPrefixDoesNotCoverWhatMustBeSpelled(t *testing.T) {
	sort := Target{Kind: KindWords, Words: []Word{{Text: "sort"}, {Text: "-o", Spelled: true}, {Text: "out"}}}
	if command(t, "sort").Covers(sort) {
		t.Error("sort covers sort -o")
	}
	if !command(t, "sort -o").Covers(sort) {
		t.Error("sort -o does not cover what it spells")
	}
	if !command(t, "= sort -o out").Covers(sort) {
		t.Error("the exact command is not covered")
	}
	if command(t, "sort").Meets(sort) != MatchYes {
		t.Error("a deny of sort does not meet sort -o")
	}
}

func TestAPlainUnknownWordIsCovered(t *testing.T) {
	ls := Target{Kind: KindWords, Words: []Word{{Text: "ls"}, {Text: "src/*.go", Unknown: true, Plain: true}}}
	if !command(t, "ls").Covers(ls) {
		t.Error("ls does not cover a plain operand")
	}
	if command(t, "= ls 'src/*.go'").Covers(ls) || command(t, "ls 'src/*.go'").Covers(ls) {
		t.Error("the text of an unknown word was taken for its value")
	}
	ls.Words[1].Plain = false
	if command(t, "ls").Covers(ls) {
		t.Error("ls covers an unknown word that may be anything")
	}
	if got := ls.String(); got != "ls ‹src/*.go›" {
		t.Errorf("it is shown as %s", got)
	}
}

func TestADenyMeetsOtherSpellingsOfAFlag(t *testing.T) {
	rm := CommandTarget("rm", "--recursive", "--force", "x")
	if command(t, "rm -rf").Meets(rm) != MatchNo {
		t.Error("the words alone meet it")
	}
	rm.Flags = []string{"-r", "-R", "--recursive", "-f", "--force"}
	for _, p := range []string{"rm -rf", "rm -R", "rm -f -r", "rm --force"} {
		if command(t, p).Meets(rm) != MatchYes {
			t.Errorf("a deny of %s does not meet rm --recursive --force", p)
		}
	}
	if command(t, "rm -rf").Covers(rm) {
		t.Error("an allow looks at other spellings")
	}
}

func TestOnePatternHidesAnother(t *testing.T) {
	for _, c := range []struct {
		first, then string
		hides       bool
	}{
		{"git", "git push", true},
		{"git push", "git push", true},
		{"git push", "git", false},
		{"git push", "git pull", false},
		{"= git push", "git push", false},
		{"= git push", "= git push", true},
		{"git", "= git push", true},
	} {
		if got := command(t, c.first).Hides(command(t, c.then)); got != c.hides {
			t.Errorf("%s hides %s: %v", c.first, c.then, got)
		}
	}
}

// Rules about commands hold in the shell's own folder; a grant in the folder it
// was given in.
func TestNoRuleAllowsACommandAway(t *testing.T) {
	act := Act{Name: ActShell, Target: CommandTarget("npm", "test"), Dir: "/tmp/evil", Away: true, Prefix: 2, Verdict: VerdictAsk}
	set, err := CompileRules([]Rule{{Pattern: "shell(npm test)", Effect: EffectAllow, Scope: ScopeTool, Enabled: true}})
	if err != nil {
		t.Fatal(err)
	}
	call := Call{Tool: ActShell, Session: "s"}
	judge := func(p Policy, a Act) State {
		return p.Judge(Question{Call: &call, Acts: []Act{a}}).State
	}
	if got := judge(Policy{Rules: set}, act); got != StatePending {
		t.Errorf("a rule allows it elsewhere: %s", got)
	}
	grants := NewGrantSet([]Grant{{Session: "s", Effect: EffectAllow, Act: act, Reach: ReachExact}})
	if got := judge(Policy{Grants: grants}, act); got != StateSessionApproved {
		t.Errorf("the grant for that folder does not hold: %s", got)
	}
	here := act
	here.Away, here.Dir = false, "proj"
	if got := judge(Policy{Rules: set}, here); got != StateAutoApproved {
		t.Errorf("the rule does not hold at home: %s", got)
	}
	if len(Offers(&call, []Act{act}, []int{0})) == 0 {
		t.Error("no grant is offered away from home")
	}
}

func TestUnreadableCodeMayMeetAnyDeny(t *testing.T) {
	code := Act{Name: ActShell, Target: Target{Kind: KindWords, Words: []Word{{Text: "python -c …", Unknown: true}}}, Opaque: true, Verdict: VerdictFree}
	call := Call{Tool: ActShell, Session: "s"}
	for text, want := range map[string]State{
		"deny read_file(**/.env)":  StatePending,
		"deny connect(**)":         StatePending,
		"deny shell(rm)":           StatePending,
		"deny github:delete_issue": StateFree, // no code of this machine calls that
		"deny connector github":    StateFree,
	} {
		rule, err := ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		set, err := CompileRules([]Rule{rule})
		if err != nil {
			t.Fatal(err)
		}
		got := Policy{Rules: set, Mode: ModeAsk}.Judge(Question{Call: &call, Acts: []Act{code}})
		if got.State != want || (want == StatePending) != got.PersonOnly {
			t.Errorf("%s: %s, person only %v", text, got.State, got.PersonOnly)
		}
	}
}

func TestARefusalNamesThePartAndTheRest(t *testing.T) {
	rule, err := ParseRule("deny shell(rm)")
	if err != nil {
		t.Fatal(err)
	}
	set, err := CompileRules([]Rule{rule})
	if err != nil {
		t.Fatal(err)
	}
	status := Act{Name: ActShell, Target: CommandTarget("git", "status"), Verdict: VerdictFree, Line: 1}
	rm := Act{Name: ActShell, Target: CommandTarget("rm", "-rf", "build"), Verdict: VerdictAsk, Line: 2}
	call := Call{Tool: ActShell}
	got := Policy{Rules: set}.Judge(Question{Call: &call, Acts: []Act{status, rm}})
	if want := "it is shell(rm -rf build) on line 2; without it this may run: git status"; got.State != StateAutoDenied || got.Why != want {
		t.Errorf("%s: %q", got.State, got.Why)
	}
	rm.Verdict, rm.Why = VerdictBlock, "blocked by policy"
	got = Policy{}.Judge(Question{Call: &call, Acts: []Act{rm}})
	if got.State != StateBlocked || got.Why != "blocked by policy" {
		t.Errorf("alone: %s: %q", got.State, got.Why)
	}
}

func TestADenyLooksBehindAssignments(t *testing.T) {
	set := Target{Kind: KindWords, Words: []Word{{Text: "A=1"}, {Text: "B=$x", Unknown: true}, {Text: "rm"}, {Text: "-rf"}, {Text: "build"}}}
	for pattern, want := range map[string]Match{"rm": MatchYes, "rm -rf": MatchYes, "= rm -rf build": MatchYes, "git": MatchNo, "= rm": MatchNo} {
		if got := command(t, pattern).Meets(set); got != want {
			t.Errorf("%s: %v, want %v", pattern, got, want)
		}
	}
	if command(t, "rm").Covers(set) {
		t.Error("an allow looks behind assignments")
	}
	rules, err := CompileRules([]Rule{{Pattern: "shell(rm)", Effect: EffectDeny, Scope: ScopeTool, Enabled: true}})
	if err != nil {
		t.Fatal(err)
	}
	call := Call{Tool: ActShell}
	act := Act{Name: ActShell, Target: CommandTarget("A=1", "rm", "x"), Verdict: VerdictFree}
	if got := (Policy{Rules: rules}).Judge(Question{Call: &call, Acts: []Act{act}}); got.State != StateAutoDenied {
		t.Errorf("a rule is not found behind an assignment: %s", got.State)
	}
}

func TestADenyMayBeMetByWhatAnUnknownProgramRuns(t *testing.T) {
	for text, want := range map[string]Match{"rm": MatchPossibly, "rm -rf": MatchPossibly, "git push": MatchNo} {
		for _, words := range [][]string{{"eatmydata", "rm", "-rf", "build"}, {"nosuch", "--", "/bin/rm", "-rf", "x"}, {"nosuch", "-e", "rm -rf x"}} {
			target := CommandTarget(words...)
			target.Loose = true
			if got := command(t, text).Meets(target); got != want {
				t.Errorf("%s meets %v: %v, want %v", text, words, got, want)
			}
		}
	}
	if command(t, "rm").Meets(CommandTarget("docker", "rm", "x")) != MatchNo {
		t.Error("a program that is known is taken for a wrapper")
	}
}
