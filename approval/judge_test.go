package approval_test

import (
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
)

func ruleSet(t *testing.T, texts ...string) *policy.RuleSet {
	t.Helper()
	var rules []policy.Rule
	for _, text := range texts {
		r, err := policy.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		r.ID = text
		rules = append(rules, r)
	}
	set, err := policy.CompileRules(rules)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func judge(p policy.Policy, acts ...policy.Act) policy.Judgement {
	return p.Judge(question(acts...))
}

func question(acts ...policy.Act) policy.Question {
	return policy.Question{
		Call: &policy.Call{Tool: "tool", Session: "s"}, Acts: acts, Now: approvaltest.Epoch,
	}
}

func grantFor(effect policy.Effect, act policy.Act) *policy.GrantSet {
	return policy.NewGrantSet([]policy.Grant{{ID: "grant", Session: "s", Effect: effect, Act: act, Reach: policy.ReachExact}})
}

func TestJudgeOrder(t *testing.T) {
	file := fileAct("notes/a.md")
	free, blocked, only := file, file, file
	free.Verdict = policy.VerdictFree
	blocked.Verdict, blocked.Why = policy.VerdictBlock, "read-only"
	only.PersonOnly = true
	allow, deny := ruleSet(t, "allow write_file"), ruleSet(t, "deny write_file(notes/**)")
	both := ruleSet(t, "allow write_file", "deny write_file(notes/**)")
	yes, no := grantFor(policy.EffectAllow, file), grantFor(policy.EffectDeny, file)
	for name, c := range map[string]struct {
		policy   policy.Policy
		act      policy.Act
		approved bool
		want     map[policy.Mode]policy.State
	}{
		"blocked beats deny":          {policy.Policy{Rules: both, Grants: yes}, blocked, true, every(policy.StateBlocked)},
		"deny beats free":             {policy.Policy{Rules: deny}, free, true, every(policy.StateAutoDenied)},
		"deny beats allow":            {policy.Policy{Rules: both}, file, false, every(policy.StateAutoDenied)},
		"deny beats grants":           {policy.Policy{Rules: deny, Grants: yes}, file, false, every(policy.StateAutoDenied)},
		"config's deny beats allow":   {policy.Policy{Rules: allow, Fixed: deny}, file, true, every(policy.StateAutoDenied)},
		"kept deny beats config":      {policy.Policy{Rules: deny, Fixed: allow}, file, false, every(policy.StateAutoDenied)},
		"denial beats allow":          {policy.Policy{Rules: allow, Grants: no}, file, true, every(policy.StateAutoDenied)},
		"free needs no rule":          {policy.Policy{Rules: allow}, free, false, every(policy.StateFree)},
		"free beats the person":       {policy.Policy{}, free, true, every(policy.StateFree)},
		"a person's yes beats mode":   {policy.Policy{}, file, true, every(policy.StateApproved)},
		"a person's yes beats rules":  {policy.Policy{Rules: allow}, file, true, every(policy.StateApproved)},
		"rules beat grants":           {policy.Policy{Rules: allow, Grants: yes}, file, false, every(policy.StateAutoApproved)},
		"config's rules allow":        {policy.Policy{Fixed: allow}, file, false, every(policy.StateAutoApproved)},
		"grants beat mode":            {policy.Policy{Grants: yes}, file, false, every(policy.StateSessionApproved)},
		"mode answers what is left":   {policy.Policy{}, file, false, modes(policy.StatePending, policy.StateModeApproved, policy.StateModeDenied)},
		"person-only beats rules":     {policy.Policy{Rules: allow, Grants: yes}, only, false, modes(policy.StatePending, policy.StatePending, policy.StateModeDenied)},
		"person-only: a person may":   {policy.Policy{}, only, true, every(policy.StateApproved)},
		"person-only, marked as free": {policy.Policy{}, func() policy.Act { a := only; a.Verdict = policy.VerdictFree; return a }(), false, modes(policy.StatePending, policy.StatePending, policy.StateModeDenied)},
	} {
		t.Run(name, func(t *testing.T) {
			for mode, want := range c.want {
				c.policy.Mode = mode
				q := question(c.act)
				q.Approved, q.Traced = c.approved, true
				got := c.policy.Judge(q)
				if got.State != want {
					t.Errorf("in mode %s: %s, want %s\n%s", mode, got.State, want, got.Trace)
				}
				q.Traced = false
				if untraced := c.policy.Judge(q).State; untraced != want {
					t.Errorf("without a trace %s", untraced)
				}
			}
		})
	}
}

func every(s policy.State) map[policy.Mode]policy.State { return modes(s, s, s) }

func modes(ask, all, strict policy.State) map[policy.Mode]policy.State {
	return map[policy.Mode]policy.State{policy.ModeAsk: ask, policy.ModeApproveAll: all, policy.ModeStrict: strict}
}

func TestZeroValuesRefuse(t *testing.T) {
	if (policy.Judgement{}).State.Runs() || (approval.Outcome{}).Runs() || policy.State("").Runs() {
		t.Error("a zero value runs")
	}
	if err := (approval.Outcome{}).Err(); err == nil {
		t.Error("the zero Outcome is no error")
	}
	if got := judge(policy.Policy{Mode: policy.ModeApproveAll}, policy.Act{Name: "x"}).State; got != policy.StateBlocked {
		t.Errorf("an act with the zero Verdict is %s", got)
	}
	if got := judge(policy.Policy{Mode: policy.ModeApproveAll}, policy.Act{Name: "x", Verdict: 9}).State; got != policy.StateBlocked {
		t.Errorf("an act with an unknown Verdict is %s", got)
	}
	got := judge(policy.Policy{Mode: policy.ModeApproveAll})
	if got.State != policy.StateBlocked {
		t.Errorf("a call without acts is %s", got.State)
	}
	wantText(t, got.Why, "does not say what the call would do")
	if got := judge(policy.Policy{Mode: 9}, fileAct("a")).State; got != policy.StateModeDenied {
		t.Errorf("in an unknown mode: %s", got)
	}
}

func TestEveryActMustBeAnswered(t *testing.T) {
	acts := []policy.Act{commandAct("git", "status"), commandAct("git", "push"), fileAct("out/log.txt")}
	got := judge(policy.Policy{Rules: ruleSet(t, "allow shell(git status)")}, acts...)
	if got.State != policy.StatePending || len(got.Open) != 2 || got.Open[0] != 1 || got.Open[1] != 2 {
		t.Errorf("%s, open %v", got.State, got.Open)
	}
	got = judge(policy.Policy{Rules: ruleSet(t, "allow shell(git)", "deny write_file(out/**)")}, acts...)
	if got.State != policy.StateAutoDenied || got.Act != 3 {
		t.Errorf("%s by act %d, want the redirection denied", got.State, got.Act)
	}
	got = judge(policy.Policy{Rules: ruleSet(t, "allow shell(git)"), Fixed: ruleSet(t, "allow write_file(out/**)")}, acts...)
	if got.State != policy.StateAutoApproved {
		t.Errorf("kept and config rules together: %s", got.State)
	}
	got = judge(policy.Policy{Rules: ruleSet(t, "allow shell(git)"), Grants: grantFor(policy.EffectAllow, acts[2])}, acts...)
	if got.State != policy.StateSessionApproved || got.Grant == nil || got.Rule != nil {
		t.Errorf("a rule and a grant together: %s", got.State)
	}
}

func TestPossiblyDeniedIsLeftToAPerson(t *testing.T) {
	unknown := policy.Act{Name: policy.ActShell, Target: policy.Target{Kind: policy.KindWords, Words: []policy.Word{{Unknown: true}}}, Verdict: policy.VerdictFree}
	inForce := policy.Policy{Rules: ruleSet(t, "deny shell(git push)", "allow shell"), Fixed: ruleSet(t, "allow shell")}
	for mode, want := range modes(policy.StatePending, policy.StatePending, policy.StateModeDenied) {
		inForce.Mode = mode
		got := judge(inForce, unknown)
		if got.State != want || !got.PersonOnly {
			t.Errorf("in mode %s: %s, person-only %t", mode, got.State, got.PersonOnly)
		}
		if want == policy.StatePending {
			wantText(t, got.Why, "deny shell(git push)")
		}
	}
	other := policy.Act{Name: policy.ActWriteFile, Target: policy.UnknownTarget(policy.KindPath), Verdict: policy.VerdictFree}
	inForce = policy.Policy{Rules: ruleSet(t, "deny shell(git push)", "deny write_file(secret/**)")}
	got := judge(inForce, unknown, other)
	wantText(t, got.Why, "deny shell(git push)", "deny write_file(secret/**)")
	if len(got.Open) != 2 {
		t.Errorf("open %v, want both", got.Open)
	}
}

func TestCausesAndByName(t *testing.T) {
	command := commandAct("cp", "a", "b")
	write := fileAct("b")
	write.Cause = 1
	redirect := write
	redirect.ByName = true
	only := write
	only.PersonOnly = true
	rules := policy.Policy{Rules: ruleSet(t, "allow shell(cp)")}
	grants := policy.Policy{Grants: grantFor(policy.EffectAllow, command)}
	for name, p := range map[string]policy.Policy{"rule": rules, "grant": grants} {
		if got := judge(p, command, write); !got.State.Runs() {
			t.Errorf("%s: what the command causes is %s", name, got.State)
		}
		if got := judge(p, command, redirect); got.State != policy.StatePending {
			t.Errorf("%s: a redirection is %s", name, got.State)
		}
		if got := judge(p, command, only); got.State != policy.StatePending || !got.PersonOnly {
			t.Errorf("%s: a person-only effect is %s", name, got.State)
		}
	}
	named := policy.Policy{Rules: ruleSet(t, "allow shell(cp)", "allow write_file(b)")}
	if got := judge(named, command, redirect); got.State != policy.StateAutoApproved {
		t.Errorf("a redirection with a rule that names it is %s", got.State)
	}
	bare := policy.Policy{Rules: ruleSet(t, "allow shell(cp)", "allow write_file", "allow tool")}
	if got := judge(bare, command, redirect); got.State != policy.StatePending {
		t.Errorf("a redirection with a bare rule is %s", got.State)
	}
	hidden := command
	hidden.ByName = true
	if got := judge(policy.Policy{Rules: ruleSet(t, "allow shell")}, hidden, write); len(got.Open) != 2 {
		t.Errorf("open %v: a bare allow answers what follows from an act that it does not answer", got.Open)
	}
	early := write
	early.Cause = 2 // the command, which stands behind it
	if got := judge(rules, early, command); got.State != policy.StatePending {
		t.Errorf("a cause that stands behind its effect: %s", got.State)
	}
	for _, cause := range []int{-1, 2, 3, 99} { // a cause that stands not before its effect is none
		loop := write
		loop.Cause = cause
		if got := judge(rules, command, loop); got.State != policy.StatePending {
			t.Errorf("cause %d: %s", cause, got.State)
		}
	}
}

func TestStrictSaysSoAndNamesTheTool(t *testing.T) {
	for name, f := range map[string]*fixture{
		"mode":     newFixture(t, withMode(policy.ModeStrict)),
		"approver": newFixture(t, withApprover(approval.ApproverFunc(nothing))),
	} {
		o := f.Decide(t.Context(), call("hub:post", "x"))[0]
		denied, ok := o.Err().(*approval.DeniedError)
		if !ok || o.State != policy.StateModeDenied {
			t.Fatalf("%s: %s, %v", name, o.State, o.Err())
		}
		wantText(t, denied.Error(), "hub:post", "strict")
		wantText(t, denied.ForModel(), "hub:post", "strict", "Do not retry")
		if strings.Count(denied.ForModel(), "strict") != 1 || strings.Contains(denied.ForModel(), "person said") {
			t.Errorf("%s: %s", name, denied.ForModel())
		}
		if got := f.Decide(t.Context(), call("read", "x"))[0].State; got != policy.StateFree {
			t.Errorf("%s: what is free is %s", name, got)
		}
	}
}

func TestDefinitionThatChanged(t *testing.T) {
	f := newFixture(t)
	one, two := policy.DigestOf([]byte("one")), policy.DigestOf([]byte("two"))
	f.tools.Set("read", approval.Proposal{Definition: two, Acts: []policy.Act{{Name: "read", Target: policy.TextTarget("x"), Verdict: policy.VerdictFree}}})
	f.tools.Set("mail", approval.Proposal{Definition: two})
	f.addRule("allow mail")
	for _, tool := range []string{"read", "mail"} {
		c := call(tool, "1")
		c.Definition = one
		b, r := f.pending(c)
		wantText(t, r.Why, "definition changed since the model was shown it")
		f.resolve(b, r.Approve(""))
		wantState(t, b, policy.StateApproved)
		if _, err := f.start(b); err != nil {
			t.Errorf("%s: a person said yes to the new definition: %v", tool, err)
		}
	}
}

func TestTraceSaysEachStep(t *testing.T) {
	f := newFixture(t)
	f.addRule("allow shell(git status)")
	f.tools.Set("run", approval.Proposal{Acts: []policy.Act{commandAct("git", "status"), commandAct("git", "push")}})
	_, r := f.pending(call("run", "x"))
	want := `1. tool shell(git status): ask.
2. tool shell(git push): ask.
3. allow shell(git status): covered, rule allow shell(git status) (allow shell(git status)).
4. allow shell(git push): open, no rule and no grant covers it.
5. mode: ask, no rule allows it.
`
	if got := r.Trace.String(); got != want {
		t.Errorf("trace\n%swant\n%s", got, want)
	}
	f.addRule("deny shell(git push)")
	wantText(t, f.Review(t.Context(), call("run", "x")).Outcome(0).Trace.String(), "deny shell(git push): denied, rule deny shell(git push)")
	wantText(t, f.Review(t.Context(), call("read", "x")).Outcome(0).Trace.String(), "tool read(x): free.", "no act of the call asks")
	b, r := f.pending(call("send", "x"))
	f.resolve(b, r.Approve("").ForSession(policy.ReachExact))
	wantText(t, b.Outcome(0).Trace.String(), "person: approved.")
	wantText(t, f.Review(t.Context(), call("send", "x")).Outcome(0).Trace.String(), "grant send: covered, grant allow send(")
}

func TestAGateWithoutTracesGivesNone(t *testing.T) {
	f := newFixture(t, func(c *approval.Config) { c.Untraced = true })
	b, r := f.pending(call("send", "x"))
	f.resolve(b, r.Approve(""))
	if len(r.Trace) != 0 || len(b.Outcome(0).Trace) != 0 || len(newFixture(t).Review(t.Context(), call("read", "x")).Outcome(0).Trace) == 0 {
		t.Error("traces are there where they should not be, or are not where they should")
	}
}

func TestDecisionWithoutATraceAllocatesNothing(t *testing.T) {
	file := fileAct("notes/today.md")
	free := file
	free.Verdict = policy.VerdictFree
	rules := ruleSet(t, "deny shell(git push)", "allow write_file(notes/**)", "deny write_file(etc/**)", "allow hub:*")
	grants := policy.NewGrantSet([]policy.Grant{{Session: "s", Effect: policy.EffectAllow, Act: file, Reach: policy.ReachExact, Expires: approvaltest.Epoch.Add(time.Hour)}})
	for name, c := range map[string]struct {
		policy policy.Policy
		act    policy.Act
		want   policy.State
	}{
		"free":  {policy.Policy{Rules: rules, Fixed: rules, Grants: grants}, free, policy.StateFree},
		"rule":  {policy.Policy{Rules: rules}, file, policy.StateAutoApproved},
		"grant": {policy.Policy{Grants: grants}, file, policy.StateSessionApproved},
		"mode":  {policy.Policy{Mode: policy.ModeApproveAll}, free, policy.StateFree},
	} {
		q := question(c.act)
		if got := c.policy.Judge(q).State; got != c.want {
			t.Fatalf("%s: %s", name, got)
		}
		if n := testing.AllocsPerRun(100, func() { c.policy.Judge(q) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
