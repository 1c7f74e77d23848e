package approval_test

import (
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

func writes(spellings ...string) approval.Proposal {
	return approval.Proposal{Acts: []policy.Act{{Name: policy.ActWriteFile, Target: policy.PathTarget(spellings...), Verdict: policy.VerdictAsk}}}
}

// A yes for the folder of a file at the top of the root "." reaches every other
// root, because their names lie below it.
func TestAFolderGrantAtTheTopDoesNotReachOtherRoots(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("write", writes("a.md", "/project/a.md"))
	b, r := f.pending(call("write", "1"))
	f.resolve(b, r.Approve("").ForSession(policy.ReachPrefix))
	f.tools.Set("write", writes("keys/id", "/home/u/.ssh/id"))
	f.pending(call("write", "2"))
	f.tools.Set("write", writes("b.md", "/project/b.md"))
	wantState(t, f.Review(t.Context(), call("write", "3")), policy.StateSessionApproved)
}

// A yes for a folder reaches a secret in it, which has to be named.
func TestAFolderGrantDoesNotReachWhatIsAnsweredByName(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("write", writes("notes/a.md"))
	b, r := f.pending(call("write", "1"))
	f.resolve(b, r.Approve("").ForSession(policy.ReachPrefix))
	secret := writes("notes/.env")
	secret.Acts[0].ByName = true
	f.tools.Set("write", secret)
	f.pending(call("write", "2"))
}

// Always, for the folder of a file at the top, would be a rule for every file.
func TestNoRuleIsOfferedForTheWholeOfTheTop(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("write", writes("a.md"))
	b, r := f.pending(call("write", "1"))
	for _, o := range r.Offers {
		if o.Reach == policy.ReachPrefix {
			t.Errorf("%q is offered", o.Allow)
		}
	}
	d := r.Approve("").Always()
	d.Remember.Reach = policy.ReachPrefix
	wantError(t, b.Resolve(t.Context(), d), approval.ErrNotOffered)
	f.tools.Set("write", writes("/etc/passwd"))
	f.pending(call("write", "2"))
}

// A tool uses its slices again, and the grant saved for one file becomes one for
// another.
func TestAToolThatRewritesItsActsDoesNotChangeAGrant(t *testing.T) {
	f := newFixture(t)
	paths, line := []string{"notes/a.md"}, []policy.Word{{Text: "ls"}}
	f.tools.Set("write", approval.Proposal{Acts: []policy.Act{
		{Name: policy.ActWriteFile, Target: policy.Target{Kind: policy.KindPath, Written: paths, Resolved: paths}, Verdict: policy.VerdictAsk},
		{Name: policy.ActShell, Target: policy.Target{Kind: policy.KindWords, Words: line}, Verdict: policy.VerdictAsk},
	}})
	b, r := f.pending(call("write", "1"))
	f.resolve(b, r.Approve("").ForSession(policy.ReachExact))
	paths[0], line[0].Text = "etc/passwd", "rm"
	f.tools.Set("write", approval.Proposal{Acts: []policy.Act{fileAct("etc/passwd")}})
	f.tools.Set("sh", approval.Proposal{Acts: []policy.Act{commandAct("rm")}})
	wantState(t, f.Review(t.Context(), call("write", "2"), call("sh", "2")), policy.StatePending, policy.StatePending)
}

// A tool uses its slices again while the person reads, and the yes to one file
// is remembered for another.
func TestAToolThatRewritesItsActsDoesNotChangeARequest(t *testing.T) {
	f := newFixture(t)
	paths := []string{"notes/a.md"}
	f.tools.Set("write", approval.Proposal{Acts: []policy.Act{{Name: policy.ActWriteFile, Target: policy.Target{Kind: policy.KindPath, Written: paths, Resolved: paths}, Verdict: policy.VerdictAsk}}})
	b, r := f.pending(call("write", "1"))
	paths[0] = "etc/passwd"
	if got := r.Acts[0].String(); got != "write_file(notes/a.md)" {
		t.Errorf("the request says %s", got)
	}
	f.addRule("allow write_file(etc/**)")
	wantState(t, b, policy.StatePending) // it is judged by what was shown
	f.resolve(b, r.Approve("").ForSession(policy.ReachExact))
	set, err := f.memory.Grants(t.Context(), "s")
	if err != nil || len(set.Grants()) != 1 || set.Grants()[0].String() != "allow write_file(notes/a.md)" {
		t.Errorf("grants %v (%v)", set.Grants(), err)
	}
}

// A rule saved for the program's own tool answers for a stranger's tool that
// gave itself the same name.
func TestABareNameDoesNotAllowAToolThatSharesIt(t *testing.T) {
	f := newFixture(t)
	act := policy.Act{Name: "send", Target: policy.TextTarget("ann"), Verdict: policy.VerdictAsk}
	f.tools.Set("send", approval.Proposal{Acts: []policy.Act{act}})
	act.Connector = "hub"
	f.tools.Set("hub:send", approval.Proposal{Acts: []policy.Act{act}, SharesName: true})
	f.addRule("allow send")
	f.addRule("allow s*(ann)")
	wantState(t, f.Review(t.Context(), call("send", "1"), call("hub:send", "1")), policy.StateAutoApproved, policy.StatePending)
	f.addRule("allow hub:send(ann)")
	wantState(t, f.Review(t.Context(), call("hub:send", "2")), policy.StateAutoApproved)
	f.addRule("deny send(*)")
	wantState(t, f.Review(t.Context(), call("hub:send", "3")), policy.StateAutoDenied)
}

// Once a session, of what is not known: it cannot be kept, and so a plain yes
// was refused as well.
func TestOncePerSessionOfAnUnknownTargetTakesAPlainYes(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("sh", approval.Proposal{Once: true, Acts: []policy.Act{{Name: policy.ActShell, Target: policy.UnknownTarget(policy.KindWords), Verdict: policy.VerdictAsk}}})
	b, r := f.pending(call("sh", "1"))
	wantError(t, b.Resolve(t.Context(), r.Approve("").ForSession(policy.ReachExact)), approval.ErrNotOffered)
	f.resolve(b, r.Approve(""))
	wantState(t, b, policy.StateApproved)
	if keep := b.Outcome(0).Decision.Remember.Keep; keep != approval.KeepNone {
		t.Errorf("recorded as kept %q", keep)
	}
	f.wantNothingLeft(b)
	f.pending(call("sh", "2"))
}

// A rule that has expired keeps the same answer from being kept again.
func TestTheSameRuleMayBeKeptAgainAfterItsEnd(t *testing.T) {
	f := newFixture(t)
	for range 2 {
		b, r := f.pending(call("send", "x"))
		d := r.Approve("").Always()
		d.Remember.For = time.Hour
		f.resolve(b, d)
		wantState(t, f.Review(t.Context(), call("send", "x")), policy.StateAutoApproved)
		f.clock.Advance(2 * time.Hour)
	}
}
