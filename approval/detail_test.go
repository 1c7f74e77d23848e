package approval_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/audit"
	"github.com/assent-dev/assent/policy"
)

// TestDetailOfRecords looks for a secret, and for what is none, in what is kept.
func TestDetailOfRecords(t *testing.T) {
	const secret, plain = "hunter2", "ordinary"
	r := approvaltest.Requests(t, 1, "s")[0]
	r.Call.Arguments = json.RawMessage(`{"password":"` + secret + `","text":"` + plain + `"}`)
	r.Acts = []policy.Act{{Name: "shell", Target: policy.Target{Kind: policy.KindWords, Words: []policy.Word{{Text: plain}, {Text: "--password"}, {Text: secret}}}}}
	d := r.Approve("password=" + secret + " " + plain)
	e := approval.Event{Tool: "shell", Arguments: r.Call.Arguments, Original: r.Call.Arguments, Note: d.Note, Why: d.Note, Error: d.Note, ActData: r.Acts, Acts: []string{r.Acts[0].String()}}
	for detail, want := range map[approval.Detail][2]bool{"": {false, true}, approval.DetailRedacted: {false, true}, approval.DetailNone: {}, approval.DetailFull: {true, true}} {
		for name, kept := range map[string]any{"event": e.Keep(detail), "request": r.Keep(detail), "decision": d.Keep(detail)} {
			data, err := json.Marshal(kept)
			if err != nil {
				t.Fatal(err)
			}
			if got := [2]bool{strings.Contains(string(data), secret), strings.Contains(string(data), plain)}; got != want {
				t.Errorf("detail %q: the %s has the secret, the plain word: %v, want %v in %s", detail, name, got, want, data)
			}
		}
	}
	if !e.Keep(approval.DetailRedacted).ActData[0].Target.Unknown {
		t.Error("an act that lost its target seems to be known")
	}
	if e.ActData[0].Target.Words[2].Text != secret {
		t.Error("keeping a part has changed the event")
	}
}

// TestTheDigestOfAnAnswer leaves out only when it was given.
func TestTheDigestOfAnAnswer(t *testing.T) {
	r := approvaltest.Requests(t, 1, "s")[0]
	d := r.Approve("yes")
	same := d
	same.At, same.By.Via = time.Now(), policy.ViaProgram
	if d.Digest() != same.Digest() {
		t.Error("the same answer at another time has another digest")
	}
	for name, other := range map[string]approval.Decision{
		"note": r.Approve("no"), "answer": r.Deny("yes"), "arguments": r.Change([]byte("{}"), "yes"), "memory": d.ForSession(policy.ReachExact),
	} {
		if other.Digest() == d.Digest() {
			t.Errorf("another %s has the same digest", name)
		}
	}
}

func FuzzParseSeal(f *testing.F) {
	f.Add(audit.Seal{Seq: 7, Hash: policy.DigestOf([]byte("x"))}.String())
	f.Add("0-")
	f.Add("-1-sha256:")
	f.Fuzz(func(t *testing.T, text string) {
		seal, err := audit.ParseSeal(text)
		if err != nil {
			return
		}
		if again, err := audit.ParseSeal(seal.String()); err != nil || again != seal || seal.Seq < 0 {
			t.Errorf("%q reads as %v and then as %v, %v", text, seal, again, err)
		}
	})
}
