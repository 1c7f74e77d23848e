package approval_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	. "github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
)

// TestDetailOfRecords looks for a secret, and for what is none, in what is kept.
func TestDetailOfRecords(t *testing.T) {
	const secret, plain = "hunter2", "ordinary"
	r := approvaltest.Requests(t, 1, "s")[0]
	r.Call.Arguments = json.RawMessage(`{"password":"` + secret + `","text":"` + plain + `"}`)
	r.Acts = []Act{{Name: "shell", Target: Target{Kind: Words, Words: []Word{{Text: plain}, {Text: "--password"}, {Text: secret}}}}}
	d := r.Approve("password=" + secret + " " + plain)
	e := Event{Tool: "shell", Arguments: r.Call.Arguments, Note: d.Note, Why: d.Note, Error: d.Note, ActData: r.Acts, Acts: []string{r.Acts[0].String()}}
	for detail, want := range map[Detail][2]bool{"": {false, true}, DetailRedacted: {false, true}, DetailNone: {}, DetailFull: {true, true}} {
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
	if !e.Keep(DetailRedacted).ActData[0].Target.Unknown {
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
	same.At, same.By.Via = time.Now(), ViaProgram
	if d.Digest() != same.Digest() {
		t.Error("the same answer at another time has another digest")
	}
	for name, other := range map[string]Decision{
		"note": r.Approve("no"), "answer": r.Deny("yes"), "arguments": r.Change([]byte("{}"), "yes"), "memory": d.ForSession(Exact),
	} {
		if other.Digest() == d.Digest() {
			t.Errorf("another %s has the same digest", name)
		}
	}
}

func FuzzParseSeal(f *testing.F) {
	f.Add(Seal{Seq: 7, Hash: DigestOf([]byte("x"))}.String())
	f.Add("0-")
	f.Add("-1-sha256:")
	f.Fuzz(func(t *testing.T, text string) {
		seal, err := ParseSeal(text)
		if err != nil {
			return
		}
		if again, err := ParseSeal(seal.String()); err != nil || again != seal || seal.Seq < 0 {
			t.Errorf("%q reads as %v and then as %v, %v", text, seal, again, err)
		}
	})
}
