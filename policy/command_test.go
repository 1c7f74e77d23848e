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
	sort := Target{Kind: Words, Words: []Word{{Text: "sort"}, {Text: "-o", Spelled: true}, {Text: "out"}}}
	if command(t, "sort").Covers(sort) {
		t.Error("sort covers sort -o")
	}
	if !command(t, "sort -o").Covers(sort) {
		t.Error("sort -o does not cover what it spells")
	}
	if !command(t, "= sort -o out").Covers(sort) {
		t.Error("the exact command is not covered")
	}
	if command(t, "sort").Meets(sort) != Yes {
		t.Error("a deny of sort does not meet sort -o")
	}
}

func TestAPlainUnknownWordIsCovered(t *testing.T) {
	ls := Target{Kind: Words, Words: []Word{{Text: "ls"}, {Text: "src/*.go", Unknown: true, Plain: true}}}
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
	if command(t, "rm -rf").Meets(rm) != No {
		t.Error("the words alone meet it")
	}
	rm.Flags = []string{"-r", "-R", "--recursive", "-f", "--force"}
	for _, p := range []string{"rm -rf", "rm -R", "rm -f -r", "rm --force"} {
		if command(t, p).Meets(rm) != Yes {
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
	act := Act{Name: Shell, Target: CommandTarget("npm", "test"), Dir: "/tmp/evil", Away: true, Prefix: 2, Verdict: Ask}
	set, err := CompileRules([]Rule{{Pattern: "shell(npm test)", Effect: Allow, Scope: ScopeTool, Enabled: true}})
	if err != nil {
		t.Fatal(err)
	}
	call := Call{Tool: Shell, Session: "s"}
	judge := func(p Policy, a Act) State {
		return p.Judge(Question{Call: &call, Acts: []Act{a}}).State
	}
	if got := judge(Policy{Rules: set}, act); got != Pending {
		t.Errorf("a rule allows it elsewhere: %s", got)
	}
	grants := NewGrantSet([]Grant{{Session: "s", Effect: Allow, Act: act, Reach: Exact}})
	if got := judge(Policy{Grants: grants}, act); got != SessionApproved {
		t.Errorf("the grant for that folder does not hold: %s", got)
	}
	here := act
	here.Away, here.Dir = false, "proj"
	if got := judge(Policy{Rules: set}, here); got != AutoApproved {
		t.Errorf("the rule does not hold at home: %s", got)
	}
	if len(Offers(&call, []Act{act}, []int{0})) == 0 {
		t.Error("no grant is offered away from home")
	}
}

func TestUnreadableCodeMayMeetAnyDeny(t *testing.T) {
	code := Act{Name: Shell, Target: Target{Kind: Words, Words: []Word{{Text: "python -c …", Unknown: true}}}, Opaque: true, Verdict: Free}
	call := Call{Tool: Shell, Session: "s"}
	for text, want := range map[string]State{
		"deny read_file(**/.env)":  Pending,
		"deny connect(**)":         Pending,
		"deny shell(rm)":           Pending,
		"deny github:delete_issue": FreeToRun, // no code of this machine calls that
		"deny connector github":    FreeToRun,
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
		if got.State != want || (want == Pending) != got.PersonOnly {
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
	status := Act{Name: Shell, Target: CommandTarget("git", "status"), Verdict: Free, Line: 1}
	rm := Act{Name: Shell, Target: CommandTarget("rm", "-rf", "build"), Verdict: Ask, Line: 2}
	call := Call{Tool: Shell}
	got := Policy{Rules: set}.Judge(Question{Call: &call, Acts: []Act{status, rm}})
	if want := "it is shell(rm -rf build) on line 2; without it this may run: git status"; got.State != AutoDenied || got.Why != want {
		t.Errorf("%s: %q", got.State, got.Why)
	}
	rm.Verdict, rm.Why = Block, "blocked by policy"
	got = Policy{}.Judge(Question{Call: &call, Acts: []Act{rm}})
	if got.State != Blocked || got.Why != "blocked by policy" {
		t.Errorf("alone: %s: %q", got.State, got.Why)
	}
}

func TestADenyLooksBehindAssignments(t *testing.T) {
	set := Target{Kind: Words, Words: []Word{{Text: "A=1"}, {Text: "B=$x", Unknown: true}, {Text: "rm"}, {Text: "-rf"}, {Text: "build"}}}
	for pattern, want := range map[string]Meets{"rm": Yes, "rm -rf": Yes, "= rm -rf build": Yes, "git": No, "= rm": No} {
		if got := command(t, pattern).Meets(set); got != want {
			t.Errorf("%s: %v, want %v", pattern, got, want)
		}
	}
	if command(t, "rm").Covers(set) {
		t.Error("an allow looks behind assignments")
	}
	rules, err := CompileRules([]Rule{{Pattern: "shell(rm)", Effect: Deny, Scope: ScopeTool, Enabled: true}})
	if err != nil {
		t.Fatal(err)
	}
	call := Call{Tool: Shell}
	act := Act{Name: Shell, Target: CommandTarget("A=1", "rm", "x"), Verdict: Free}
	if got := (Policy{Rules: rules}).Judge(Question{Call: &call, Acts: []Act{act}}); got.State != AutoDenied {
		t.Errorf("a rule is not found behind an assignment: %s", got.State)
	}
}

func TestADenyMayBeMetByWhatAnUnknownProgramRuns(t *testing.T) {
	for text, want := range map[string]Meets{"rm": Possibly, "rm -rf": Possibly, "git push": No} {
		for _, words := range [][]string{{"eatmydata", "rm", "-rf", "build"}, {"nosuch", "--", "/bin/rm", "-rf", "x"}, {"nosuch", "-e", "rm -rf x"}} {
			target := CommandTarget(words...)
			target.Loose = true
			if got := command(t, text).Meets(target); got != want {
				t.Errorf("%s meets %v: %v, want %v", text, words, got, want)
			}
		}
	}
	if command(t, "rm").Meets(CommandTarget("docker", "rm", "x")) != No {
		t.Error("a program that is known is taken for a wrapper")
	}
}
