package approval_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	. "github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/present"
)

// `git -C $X origin`, where $X is "dir push", gets around a deny of git push.
func TestAnUnknownWordAfterAnOptionMayBeWhatIsDenied(t *testing.T) {
	f := newFixture(t, withMode(ModeApproveAll))
	f.addRule("deny shell(git push)")
	act := commandAct("git", "-C", "", "origin")
	act.Target.Words[2] = Word{Unknown: true}
	f.tools.Set("sh", Proposal{Acts: []Act{act}})
	_, r := f.pending(call("sh", "x"))
	if !r.PersonOnly {
		t.Error("not only a person may answer it")
	}
	wantText(t, r.Why, "deny shell(git push)")
}

// A tool names a built-in act with a target of another kind, which the denies
// for that act cannot match.
func TestABuiltinActWithATargetOfAnotherKindIsBlocked(t *testing.T) {
	host := HostTarget("a.b", "22")
	for _, act := range []Act{
		{Name: Shell, Target: TextTarget("git push origin")},
		{Name: Shell, Target: PathTarget("git push")},
		{Name: Shell, Target: Target{}},
		{Name: ReadFile, Target: TextTarget("secrets/a")},
		{Name: WriteFile, Target: CommandTarget("secrets/a")},
		{Name: DeleteFile, Target: host},
		{Name: Connect, Target: TextTarget("a.b:22")},
		{Name: WorkerCall, Target: host},
	} {
		for _, act.Verdict = range []Verdict{Ask, Free} {
			f := newFixture(t, withMode(ModeApproveAll))
			f.tools.Set("sh", Proposal{Acts: []Act{act}})
			b := f.Review(t.Context(), call("sh", "x"))
			wantState(t, b, Blocked)
			wantText(t, b.Outcome(0).Why, "the tool names "+act.Name)
		}
	}
	f := newFixture(t)
	f.tools.Set("hub:shell", Proposal{Acts: []Act{{Name: Shell, Connector: "hub", Target: TextTarget("x"), Verdict: Ask}}})
	f.pending(call("hub:shell", "x")) // the name is the connector's own
}

// A call with more acts than anybody reads hides one among them, and takes long
// to judge.
func TestMoreActsThanAnybodyReadsAreBlocked(t *testing.T) {
	acts := make([]Act, MaxActs+1)
	for i := range acts {
		acts[i] = commandAct("rm", fmt.Sprint(i))
	}
	f := newFixture(t, withMode(ModeApproveAll))
	f.tools.Set("sh", Proposal{Acts: acts})
	f.tools.Set("most", Proposal{Acts: acts[:MaxActs]})
	wantState(t, f.Review(t.Context(), call("sh", "x"), call("most", "x")), Blocked, ModeApproved)
}

// A rule that looks like a deny is taken and matches nothing.
func TestRulesThatCouldMatchNothingAreRefused(t *testing.T) {
	for _, text := range []string{
		"deny connector hub:*", "deny connector hub(x)", "deny connector hub:post(x)",
		"deny read_file(secrets/**", "deny Read_File(secrets/**", "deny shell(git push", "allow edit_file(notes/**",
	} {
		_, err := ParseRule(text)
		wantError(t, err, ErrMalformedRule)
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
		if _, err := f.another().Restore(t.Context(), []byte(data)); err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("the same %s: %v", name, err)
		}
	}
}

// A request comes from elsewhere without what it would show, and is approved
// unseen.
func TestARequestWithoutAViewIsNotRead(t *testing.T) {
	var r Request
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
	f.tools.Set("gone", Proposal{Acts: []Act{fileAct("a")}, View: gone})
	b := f.Review(t.Context(), call("send", "x"), call("gone", "y"))
	f.resolve(b, b.Pending()[0].Approve(""))
	restored, err := f.another().Restore(t.Context(), f.save(b))
	if err != nil {
		t.Fatal(err)
	}
	wantState(t, restored, Approved, Pending)
	if _, err := restored.Pending()[0].View(t.Context()); err == nil {
		t.Error("what cannot be shown is shown")
	}
}
