package approval_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// `git -C $X origin`, where $X is "dir push", gets around a deny of git push.
func TestAnUnknownWordAfterAnOptionMayBeWhatIsDenied(t *testing.T) {
	f := newFixture(t, withMode(policy.ModeApproveAll))
	f.addRule("deny shell(git push)")
	act := commandAct("git", "-C", "", "origin")
	act.Target.Words[2] = policy.Word{Unknown: true}
	f.tools.Set("sh", approval.Proposal{Acts: []policy.Act{act}})
	_, r := f.pending(call("sh", "x"))
	if !r.PersonOnly {
		t.Error("not only a person may answer it")
	}
	wantText(t, r.Why, "deny shell(git push)")
}

// A tool names a built-in act with a target of another kind, which the denies
// for that act cannot match.
func TestABuiltinActWithATargetOfAnotherKindIsBlocked(t *testing.T) {
	host := policy.HostTarget("a.b", "22")
	for _, act := range []policy.Act{
		{Name: policy.ActShell, Target: policy.TextTarget("git push origin")},
		{Name: policy.ActShell, Target: policy.PathTarget("git push")},
		{Name: policy.ActShell, Target: policy.Target{}},
		{Name: policy.ActReadFile, Target: policy.TextTarget("secrets/a")},
		{Name: policy.ActWriteFile, Target: policy.CommandTarget("secrets/a")},
		{Name: policy.ActDeleteFile, Target: host},
		{Name: policy.ActConnect, Target: policy.TextTarget("a.b:22")},
		{Name: policy.ActWorkerCall, Target: host},
	} {
		for _, act.Verdict = range []policy.Verdict{policy.VerdictAsk, policy.VerdictFree} {
			f := newFixture(t, withMode(policy.ModeApproveAll))
			f.tools.Set("sh", approval.Proposal{Acts: []policy.Act{act}})
			b := f.Review(t.Context(), call("sh", "x"))
			wantState(t, b, policy.StateBlocked)
			wantText(t, b.Outcome(0).Why, "the tool gives "+act.Name)
		}
	}
	f := newFixture(t)
	f.tools.Set("hub:shell", approval.Proposal{Acts: []policy.Act{{Name: policy.ActShell, Connector: "hub", Target: policy.TextTarget("x"), Verdict: policy.VerdictAsk}}})
	f.pending(call("hub:shell", "x")) // the name is the connector's own
}

// A call with more acts than anybody reads hides one among them, and takes long
// to judge.
func TestMoreActsThanAnybodyReadsAreBlocked(t *testing.T) {
	acts := make([]policy.Act, policy.MaxActs+1)
	for i := range acts {
		acts[i] = commandAct("rm", fmt.Sprint(i))
	}
	f := newFixture(t, withMode(policy.ModeApproveAll))
	f.tools.Set("sh", approval.Proposal{Acts: acts})
	f.tools.Set("most", approval.Proposal{Acts: acts[:policy.MaxActs]})
	wantState(t, f.Review(t.Context(), call("sh", "x"), call("most", "x")), policy.StateBlocked, policy.StateModeApproved)
}

// A rule that looks like a deny is taken and matches nothing.
func TestRulesThatCouldMatchNothingAreRefused(t *testing.T) {
	for _, text := range []string{
		"deny connector hub:*", "deny connector hub(x)", "deny connector hub:post(x)",
		"deny read_file(secrets/**", "deny Read_File(secrets/**", "deny shell(git push", "allow edit_file(notes/**",
	} {
		_, err := policy.ParseRule(text)
		wantError(t, err, policy.ErrMalformedRule)
	}
}

// Two calls of a saved batch are given the same id or the same request, so that
// one answer counts for both.
func TestRestoreRefusesOneIDForTwoCalls(t *testing.T) {
	f := newFixture(t)
	b := f.Review(t.Context(), call("send", "x"), call("send", "y"))
	p := b.Pending()
	saved := string(f.save(b))
	for name, swap := range map[string][2]string{
		"call":    {`"id":"send y"`, `"id":"send x"`},
		"request": {`"` + p[1].ID + `"`, `"` + p[0].ID + `"`},
	} {
		data := strings.ReplaceAll(saved, swap[0], swap[1])
		if _, err := f.another().Restore(t.Context(), []byte(data)); err == nil || !strings.Contains(err.Error(), "duplicate") {
			t.Errorf("the same %s: %v", name, err)
		}
	}
}

// A request comes from elsewhere without what it would show, and is approved
// unseen.
func TestARequestWithoutAViewIsNotRead(t *testing.T) {
	var r approval.Request
	err := json.Unmarshal([]byte(`{"id":"x","batch":"b","call":{"id":"","tool":"t","arguments":{}},"fingerprint":"","summary":"harmless"}`), &r)
	if err == nil {
		t.Errorf("read: %+v", r)
	}
}

// One view that cannot be built keeps the answers of the whole turn from being
// saved.
func TestAViewThatFailsDoesNotKeepABatchFromBeingSaved(t *testing.T) {
	f := newFixture(t)
	gone := func(context.Context) (present.View, error) { return present.View{}, errors.New("the file is gone") }
	f.tools.Set("gone", approval.Proposal{Acts: []policy.Act{fileAct("a")}, View: gone})
	b := f.Review(t.Context(), call("send", "x"), call("gone", "y"))
	f.resolve(b, b.Pending()[0].Approve(""))
	restored, err := f.another().Restore(t.Context(), f.save(b))
	if err != nil {
		t.Fatal(err)
	}
	wantState(t, restored, policy.StateApproved, policy.StatePending)
	if _, err := restored.Pending()[0].View(t.Context()); err == nil {
		t.Error("what cannot be shown is shown")
	}
}
