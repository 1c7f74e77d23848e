package approval_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

var update = flag.Bool("update", false, "write the golden files anew")

func (f *fixture) save(b *approval.Batch) []byte {
	f.t.Helper()
	data, err := json.Marshal(b)
	if err != nil {
		f.t.Fatal(err)
	}
	return data
}

// restart saves the batch and restores it in a new gate.
func (f *fixture) restart(b *approval.Batch) *approval.Batch {
	f.t.Helper()
	out, err := f.another().Restore(f.t.Context(), f.save(b))
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

func TestPendingSetSurvivesARestart(t *testing.T) {
	f := newFixture(t)
	odd := policy.Call{ID: "odd", Tool: "send", Arguments: []byte("{\"a\":\"<b>&\u2028é\\u0000\",\"n\":123456789012345678901234567890.10,\"z\":1e400}")}
	b := f.Review(t.Context(), odd, call("read", "x"), call("send", "no"), call("send", "yes"), call("send", "change"), call("none", "x"), call("send", "open"))
	p := b.Pending()
	f.resolve(b, p[1].Deny("never"), p[2].Approve("fine"), p[3].Change([]byte(`{"what":"<2>"}`), ""))
	f.resolve(b, b.Pending()[1].Approve(""))
	before := b.Outcomes()

	r := f.restart(b)
	wantState(t, r, policy.StatePending, policy.StateFree, policy.StateDenied, policy.StateApproved, policy.StateApproved, policy.StateInvalid, policy.StatePending)
	for i, o := range r.Outcomes() {
		want := before[i]
		if o.Fingerprint != want.Fingerprint || !bytes.Equal(o.Call.Arguments, want.Call.Arguments) ||
			!bytes.Equal(o.Original, want.Original) || o.Request != want.Request || o.Asked != want.Asked || o.Note() != want.Note() {
			t.Errorf("call %s: %s", o.Call.ID, cmp.Diff(want.Call, o.Call))
		}
	}
	if err := r.Resolve(t.Context(), p[0].Approve("")); err != nil {
		t.Fatalf("the answer to what was shown before the restart: %v", err)
	}
	for _, i := range []int{0, 1, 3, 4} {
		proposal, err := f.tools.Prepare(t.Context(), r.Outcome(i).Call)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Start(t.Context(), i, proposal); err != nil {
			t.Errorf("call %d does not start after a restart: %v", i, err)
		}
	}
	err := r.Resolve(t.Context(), p[1].Approve(""))
	wantError(t, err, approval.ErrSettled)
	wantText(t, err.Error(), "denied by")
}

func TestSavedRequestCarriesItsView(t *testing.T) {
	f := newFixture(t)
	b, r := f.pending(call("send", "x"))
	view, err := r.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var saved struct {
		Entries []struct{ Request *approval.Request }
	}
	if err := json.Unmarshal(f.save(b), &saved); err != nil {
		t.Fatal(err)
	}
	got, err := saved.Entries[0].Request.View(t.Context())
	if err != nil || !got.Equal(view) {
		t.Errorf("view %v (%v), want %v", got, err, view)
	}
}

func TestRestartAsksAnewWhatHasChanged(t *testing.T) {
	f := newFixture(t)
	b, old := f.pending(call("send", "x"))
	f.tools.Set("send", approval.Proposal{State: policy.DigestOf([]byte("edited"))})
	r := f.restart(b)
	wantState(t, r, policy.StatePending)
	fresh := r.Pending()[0]
	err := r.Resolve(t.Context(), old.Approve(""))
	wantError(t, err, approval.ErrWrongCall)
	wantText(t, err.Error(), `"`+fresh.ID+`"`)
	wantText(t, fresh.Why, "no longer what was shown")
	wantState(t, r, policy.StatePending)
	r = f.restart(r) // and over one more restart
	wantError(t, r.Resolve(t.Context(), old.Approve("")), approval.ErrWrongCall)
	f.resolve(r, fresh.Approve(""))
	wantState(t, r, policy.StateApproved)
}

func TestRestartJudgesWhatIsPending(t *testing.T) {
	f := newFixture(t)
	b := f.Review(t.Context(), call("send", "1"), call("mail", "1"), call("hub:post", "1"), call("write", "1"))
	old := b.Pending()
	data := f.save(b)
	for _, text := range []string{"allow send", "deny mail"} {
		f.addRule(text)
	}
	f.tools.Remove("hub:post")
	r, err := f.another().Restore(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	wantState(t, r, policy.StateAutoApproved, policy.StateAutoDenied, policy.StateInvalid, policy.StatePending)
	wantError(t, r.Resolve(t.Context(), old[0].Deny("")), approval.ErrSettled)
	wantError(t, r.Resolve(t.Context(), old[1].Approve("")), approval.ErrSettled)
	wantError(t, r.Resolve(t.Context(), old[2].Approve("")), approval.ErrSettled)
}

func TestRestartWhileExecutingIsUnknownAndNeverRepeated(t *testing.T) {
	f := newFixture(t)
	b := f.approved(call("send", "x"))
	if _, err := f.start(b); err != nil {
		t.Fatal(err)
	}
	r := f.restart(b)
	if o := r.Outcome(0); o.Stage != approval.StageUnknown {
		t.Errorf("stage %s", o.Stage)
	}
	_, err := f.start(r)
	wantError(t, err, approval.ErrNotAllowed)
	r = f.restart(r)
	_, err = f.start(r)
	wantError(t, err, approval.ErrNotAllowed)
}

func TestRestartKeepsTheLimit(t *testing.T) {
	f := newFixture(t, func(c *approval.Config) {
		next := c.NewID
		c.NewID = func() string { return "saved-" + next() }
	})
	b, _ := f.pending(call("send", "saved"))
	g := &fixture{t: t, Gate: f.another(), tools: f.tools, memory: f.memory}
	fill(g)
	r, err := g.Restore(t.Context(), f.save(b))
	if err != nil {
		t.Fatal(err)
	}
	wantState(t, r, policy.StateBlocked)
}

// However often a batch is restored at one gate, each of its calls runs once.
func TestACallRunsOnceHoweverOftenItsBatchIsRestored(t *testing.T) {
	f := newFixture(t)
	saved := f.save(f.approved(call("send", "x")))
	started := 0
	for range 3 {
		b, err := f.Restore(t.Context(), saved)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.start(b); err == nil {
			started++
		} else {
			wantError(t, err, approval.ErrNotAllowed)
		}
	}
	if started != 1 {
		t.Errorf("it was started %d times", started)
	}
}

// A batch that is restored goes on in the copy; the one before it counts no more.
func TestRestoringClosesTheBatchThatStillWaits(t *testing.T) {
	f := newFixture(t)
	old, r := f.pending(call("send", "x"))
	saved := f.save(old)
	for range 2 * approval.MaxPending {
		b, err := f.Restore(t.Context(), saved)
		if err != nil {
			t.Fatal(err)
		}
		wantState(t, b, policy.StatePending)
		wantError(t, old.Resolve(t.Context(), r.Approve("")), approval.ErrSettled)
		old, r = b, b.Pending()[0]
	}
	f.resolve(old, r.Approve(""))
	wantState(t, old, policy.StateApproved)
}

func TestRestoreRefusesTheSameCallOrRequestTwice(t *testing.T) {
	f := newFixture(t)
	var in struct {
		Version int               `json:"version"`
		ID      string            `json:"id"`
		Entries []json.RawMessage `json:"entries"`
	}
	b, _ := f.pending(call("send", "x"))
	if err := json.Unmarshal(f.save(b), &in); err != nil {
		t.Fatal(err)
	}
	in.Entries = append(in.Entries, in.Entries[0])
	twice, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Restore(t.Context(), twice); err == nil || !strings.Contains(err.Error(), "duplicate") {
		t.Errorf("restored with %v", err)
	}
}

func TestRestoreRefusesWhatNoGateWrote(t *testing.T) {
	f := newFixture(t)
	b := f.Review(t.Context(), call("send", "open"), call("send", "yes"), call("send", "no"))
	p := b.Pending()
	f.resolve(b, p[1].Approve(""), p[2].Deny(""))
	good := string(f.save(b))
	swap := func(old, new string, n int) string {
		if strings.Count(good, old) < 1 {
			t.Fatalf("%s is not in %s", old, good)
		}
		return strings.Replace(good, old, new, n)
	}
	other := policy.DigestOf([]byte("other")).String()
	for name, data := range map[string]string{
		"empty":                  ``,
		"null":                   `null`,
		"foreign":                `{"model":"x","messages":[]}`,
		"no version":             swap(`"version":1,`, ``, 1),
		"newer version":          swap(`"version":1`, `"version":2`, 1),
		"newer shape":            `{"version":2,"entries":{"a":1}}`,
		"cut":                    good[:len(good)-10],
		"more":                   good + "{}",
		"no id":                  swap(`"id":"`+b.ID()+`"`, `"id":""`, 1),
		"denied to approved":     swap(`"state":"denied","stage":"refused"`, `"state":"approved","stage":"ready"`, 1),
		"only the state":         swap(`"state":"denied"`, `"state":"approved"`, 1),
		"unknown state":          swap(`"state":"denied"`, `"state":"fine"`, 1),
		"unknown stage":          swap(`"stage":"ready"`, `"stage":"fine"`, 1),
		"back to waiting":        swap(`"stage":"ready"`, `"stage":"waiting"`, 1),
		"pending to approved":    swap(`"state":"pending","stage":"waiting"`, `"state":"approved","stage":"ready"`, 1),
		"another call's yes":     swap(`"answer":"approve"`, `"answer":"deny"`, 1),
		"another fingerprint":    swap(p[0].Fingerprint.String(), other, 1),
		"approved as another":    swap(p[1].Fingerprint.String(), other, 1),
		"no fingerprint":         swap(p[1].Fingerprint.String(), "", -1),
		"broken digest":          swap(p[1].Fingerprint.String(), "sha256:12", 1),
		"duplicate keys in call": swap(`{"what":"yes"}`, `{"what":"yes","what":"no"}`, 1),
	} {
		if r, err := f.another().Restore(t.Context(), []byte(data)); err == nil || r != nil {
			t.Errorf("%s: restored", name)
		} else {
			wantText(t, err.Error(), "saved batch: ")
		}
	}
}

func TestTamperedArgumentsDoNotRun(t *testing.T) {
	f := newFixture(t)
	b := f.approved(call("send", "good"))
	data := strings.ReplaceAll(string(f.save(b)), `"what":"good"`, `"what":"evil"`)
	r, err := f.another().Restore(t.Context(), []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.start(r)
	wantError(t, err, approval.ErrChanged)
	wantState(t, r, policy.StatePending)
}

// TestSavedFormIsVersion1 fails when the saved form changes. If it must, give it
// a new version and keep reading the old one.
func TestSavedFormIsVersion1(t *testing.T) {
	const golden = "testdata/batch-v1.json"
	f := newFixture(t)
	f.tools.Set("run", approval.Proposal{
		Definition: policy.DigestOf([]byte("definition")), Summary: "Run git push", State: policy.DigestOf([]byte("state")), Dir: "src",
		Acts:    []policy.Act{commandAct("git", "push"), fileAct("out/log.txt")},
		Choices: []approval.Choice{{ID: "outside", Label: "Outside the sandbox"}}, Edit: approval.Editable{Argument: "what", Suffix: ".sh"},
	})
	run := call("run", "<git push>")
	run.Workers = []string{"main"}
	b := f.Review(t.Context(), run, call("send", "yes"), call("read", "x"))
	d := b.Pending()[1].Approve("fine").ForSession(policy.ReachExact)
	d.By = policy.Who{User: "ann", Host: "desk", Via: policy.ViaTerminal}
	f.resolve(b, d)
	var got bytes.Buffer
	if err := json.Indent(&got, f.save(b), "", "\t"); err != nil {
		t.Fatal(err)
	}
	got.WriteByte('\n')
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the saved form has changed (run with -update to accept):\n%s", diff)
	}
	r, err := f.another().Restore(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	wantState(t, r, policy.StatePending, policy.StateApproved, policy.StateFree)
	if r.Pending()[0].ID != b.Pending()[0].ID {
		t.Error("the golden request is asked anew")
	}
}
