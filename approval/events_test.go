package approval_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/redact"
	"github.com/assent-dev/assent/policy"
)

func TestEventsOfACallThatRuns(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("send", approval.Proposal{Profile: policy.DigestOf([]byte("profile"))})
	c := call("send", "x")
	c.Workers = []string{"main"}
	b, r := f.pending(c)
	f.clock.Advance(time.Minute)
	d := r.Approve("be quick").ForSession(policy.ReachExact)
	d.By = policy.Who{User: "ann", Host: "desk", Via: policy.ViaTerminal}
	f.resolve(b, d)
	if n := len(f.recorder.Events()); n != 0 {
		t.Fatalf("%d events before it runs", n)
	}
	f.clock.Advance(time.Minute)
	exec, err := f.start(b)
	if err != nil {
		t.Fatal(err)
	}
	if e := f.recorder.Events(); len(e) != 1 || e[0].Kind != approval.EventStarted || e[0].Stage != approval.StageExecuting {
		t.Fatalf("events when it starts: %v", e)
	}
	f.clock.Advance(5 * time.Second)
	if err := exec.End(t.Context(), approval.StageFailed, errors.New("exit 1, password=hunter2hunter2")); err != nil {
		t.Fatal(err)
	}
	events := f.recorder.Of("send x")
	if len(events) != 2 {
		t.Fatalf("%d events, want started and ended", len(events))
	}
	for _, e := range events {
		if e.Session != "s" || e.Tool != "send" || e.Workers[0] != "main" || e.Request != r.ID || e.State != policy.StateApproved {
			t.Errorf("event %+v", e)
		}
		if e.By != d.By || e.Note != "be quick" || e.Remembered != approval.KeepSession || len(e.Acts) != 1 || e.Acts[0] != "send" {
			t.Errorf("by %v, note %q, remembered %q, acts %v", e.By, e.Note, e.Remembered, e.Acts)
		}
		if e.Fingerprint != r.Fingerprint || e.ArgumentsDigest != policy.DigestOf([]byte(`{"what":"x"}`)) || e.Profile.IsZero() {
			t.Error("a digest is wrong")
		}
		if e.Requested != approvaltest.Epoch || e.Decided != approvaltest.Epoch.Add(time.Minute) || len(e.Trace) == 0 {
			t.Errorf("requested %v, decided %v", e.Requested, e.Decided)
		}
	}
	end := events[1]
	if end.Kind != approval.EventEnded || end.Stage != approval.StageFailed || end.Duration != 5*time.Second || end.At != approvaltest.Epoch.Add(2*time.Minute+5*time.Second) {
		t.Errorf("end %s %s after %v at %v", end.Kind, end.Stage, end.Duration, end.At)
	}
	wantText(t, end.Error, "exit 1", redact.Replacement)
}

func TestExactlyOneEndForWhatDoesNotRun(t *testing.T) {
	f := newFixture(t)
	f.tools.Set("wipe", approval.Proposal{Acts: []policy.Act{{Name: "wipe"}}})
	f.addRule("deny mail")
	b := f.Review(t.Context(), call("wipe", "1"), call("mail", "1"), call("none", "1"), call("send", "deny"),
		call("send", "respond"), call("send", "dismiss"), call("send", "rule"), call("send", "change"), call("read", "1"))
	p := b.Pending()
	f.resolve(b, p[0].Deny("no"), p[1].Respond("done"), p[2].Dismiss())
	f.resolve(b, p[4].Change([]byte(`{"what":"other"}`), ""))
	f.addRule("deny send")
	want := []policy.State{policy.StateBlocked, policy.StateAutoDenied, policy.StateInvalid, policy.StateDenied, policy.StateAnswered, policy.StateDismissed, policy.StateAutoDenied, policy.StateAutoDenied}
	for i, o := range b.Outcomes() {
		events := f.recorder.Of(o.Call.ID)
		if i == len(want) { // it may run and has not
			if len(events) != 0 {
				t.Errorf("a free call that has not started has %d events", len(events))
			}
			continue
		}
		if len(events) != 1 || events[0].Kind != approval.EventEnded || events[0].State != want[i] || events[0].State != o.State {
			t.Errorf("%s (%s): events %v, want one end as %s", o.Call.ID, o.State, events, want[i])
			continue
		}
		if e := events[0]; e.State == policy.StateAutoDenied && (e.Rule == "" || e.By.Via != policy.ViaRule || !strings.Contains(e.Basis, "deny")) {
			t.Errorf("%s: rule %q, via %q, basis %q", o.Call.ID, e.Rule, e.By.Via, e.Basis)
		}
	}
	if e := f.recorder.Of("send change")[0]; e.OriginalDigest != policy.DigestOf([]byte(`{"what":"change"}`)) {
		t.Error("the digest of the original arguments is missing")
	}
}

func TestEventsRedactSecretsAndDigestTheRealOnes(t *testing.T) {
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	f := newFixture(t)
	act := commandAct("curl", "-H", "Authorization: Bearer "+secret)
	f.tools.Set("run", approval.Proposal{Acts: []policy.Act{act}})
	c := policy.Call{ID: "1", Tool: "run", Arguments: []byte(`{"cmd":"use ` + secret + `","password":"hunter2"}`)}
	b, r := f.pending(c)
	d := r.Approve("the key is " + secret).ForSession(policy.ReachExact)
	f.resolve(b, d)
	if _, err := f.start(b); err != nil {
		t.Fatal(err)
	}
	next := f.Review(t.Context(), c)
	wantState(t, next, policy.StateSessionApproved)
	if _, err := f.start(next); err != nil {
		t.Fatal(err)
	}
	for _, e := range f.recorder.Events() {
		for name, text := range map[string]string{
			"arguments": string(e.Arguments), "acts": strings.Join(e.Acts, " "), "note": e.Note, "basis": e.Basis, "why": e.Why, "trace": e.Trace.String(),
		} {
			if strings.Contains(text, secret) || strings.Contains(text, "hunter2") {
				t.Errorf("%s shows a secret: %s", name, text)
			}
		}
		if e.ArgumentsDigest != policy.DigestOf(b.Outcome(0).Call.Arguments) {
			t.Error("the digest is not over the real arguments")
		}
	}
}

func TestFailingRecorderNeverLeavesACallOpen(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "x"))
	f.recorder.FailWith(errors.New("disk full"))
	f.resolve(b, r.Deny("no"))
	wantState(t, b, policy.StateDenied)
	wantText(t, b.Outcome(0).Err().Error(), "could not be recorded: disk full")
	blocked := f.Review(t.Context(), call("none", "x"))
	wantState(t, blocked, policy.StateInvalid)

	f.recorder.FailIf(func(approval.Event) error { panic("recorder broke") })
	b, r = f.pending(call("send", "y"))
	f.resolve(b, r.Deny("no"))
	wantState(t, b, policy.StateDenied)
}

func TestFreeAndRememberedCallsAreRecordedToo(t *testing.T) {
	f := newFixture(t)
	f.addRule("allow mail")
	for tool, want := range map[string]policy.State{"read": policy.StateFree, "mail": policy.StateAutoApproved} {
		b := f.Review(t.Context(), call(tool, "x"))
		exec, err := f.start(b)
		if err != nil {
			t.Fatal(err)
		}
		if err := exec.End(t.Context(), approval.StageCompleted, nil); err != nil {
			t.Fatal(err)
		}
		events := f.recorder.Of(tool + " x")
		if len(events) != 2 || events[0].State != want || events[1].Stage != approval.StageCompleted {
			t.Errorf("%s: events %v", tool, events)
		}
	}
	if e := f.recorder.Of("mail x")[0]; e.Rule != "allow mail" || e.By.Via != policy.ViaRule {
		t.Errorf("by %q, rule %q", e.By.Via, e.Rule)
	}
}
