package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

func TestApproveOnce(t *testing.T) {
	for _, key := range []string{"y", "Y", "yes", "YES"} {
		f := newFixture(t, "diff")
		p := f.play(t, 80, 0)
		p.keys(key)
		if got := f.state(0); got != policy.StateApproved {
			t.Errorf("%q: %s", key, got)
		}
		if !p.state.over || len(p.said) != 1 || !strings.HasPrefix(p.said[0], "✓ approved: write_file · Edit notes/report.md") {
			t.Errorf("%q: said %q", key, p.said)
		}
		if d := f.batch.Outcome(0).Decision; d.By.Via != policy.ViaTerminal || d.Remember.Keep != approval.KeepNone {
			t.Errorf("decision %+v", d)
		}
	}
}

func TestOtherKeysNeverApprove(t *testing.T) {
	others := []string{"<enter>", "<esc>", "<space>", "<tab>", "<up>", "<pgdown>", "<alt+y>", "<ctrl+y>", "<f1>", "<shift+y>", "z", "ä", "1", " ", "0", "<early>"}
	f := newFixture(t, "diff")
	p := f.play(t, 80, 24)
	p.keys(others...)
	p.event(pasteEvent{"y"})
	p.event(pasteEvent{"yes\n"})
	if f.state(0) != policy.StatePending || p.state.over {
		t.Fatalf("answered: %s", f.state(0))
	}
}

// What the screen has no room to show cannot be approved at it, nor counts as seen.
func TestATerminalThatIsTooLowDoesNotApprove(t *testing.T) {
	for _, rows := range []int{5, 8, 10} {
		f := newFixture(t, "diff", "two")
		p := f.play(t, 40, rows)
		p.keys("<end>", "y", "s", "a", "A", "y")
		if f.state(0) != policy.StatePending {
			t.Fatalf("%d rows: %s", rows, f.state(0))
		}
		p.keys("<esc>")
		p.wants("enlarge")
		if n := strings.Count(p.screen(), "\n") + 1; rows > 8 && n > rows {
			t.Errorf("%d rows are drawn on %d", n, rows)
		}
		p.event(sizeEvent{80, 40})
		p.keys("y")
		if f.state(0) != policy.StateApproved {
			t.Errorf("enlarged: %s", f.state(0))
		}
	}
}

// TestNoDialogApprovesWithoutYes opens every dialog and presses everything but y in it.
func TestNoDialogApprovesWithoutYes(t *testing.T) {
	for _, open := range []string{"s", "S", "a", "A", "c", "?", "h", "g", "r", "N", "D", "q", "v", "e"} {
		for _, k := range []string{"<enter>", "<space>", "1", "2", "l", "w", "x", "a", "s", "<ctrl+d>", "<down>", "o"} {
			f := newFixture(t, "bash", "two")
			p := f.play(t, 80, 24)
			p.edit = func(r *approval.Request) editedEvent { return editedEvent{id: r.ID, at: p.now} }
			p.keys(open, k, k)
			for i := range 2 {
				if f.batch.Outcome(i).State.Runs() {
					t.Errorf("%s %s approved call %d", open, k, i)
				}
			}
		}
	}
}

func TestEscGoesBack(t *testing.T) {
	f := newFixture(t, "bash", "two")
	p := f.play(t, 80, 24)
	for _, open := range []string{"s", "a", "A", "c", "?", "h", "g", "r", "N", "D", "q"} {
		p.keys(open)
		if p.state.dialog == nil {
			t.Errorf("%s opened nothing", open)
		}
		p.keys("<esc>")
		if p.state.dialog != nil || p.state.over || f.state(0) != policy.StatePending {
			t.Errorf("%s and Esc: %#v", open, p.state.dialog)
		}
	}
}

func TestEarlyKeysAreSwallowed(t *testing.T) {
	f := newFixture(t, "diff")
	p := f.play(t, 80, 24)
	p.state.arm(p.now)
	press := func(key string, ms int) {
		p.event(keyEvent{name: key, text: key, at: p.now.Add(time.Duration(ms) * time.Millisecond)})
	}
	// A key that is held down never says yes, however long.
	for ms := 0; ms < 5000; ms += 33 {
		press("y", ms)
	}
	if f.state(0) != policy.StatePending {
		t.Fatal("a key that was held down answered")
	}
	// Each key starts the quiet time again; for a no it is not past the longest wait.
	p.state.arm(p.now)
	for ms := 0; ms < 1500; ms += 100 {
		press("N", ms)
	}
	if p.state.dialog != nil {
		t.Fatal("a key that was too early counted")
	}
	if press("N", 1500); p.state.dialog == nil {
		t.Fatal("a key after the longest wait did not count")
	}
}

// A text that somebody goes on typing while the prompt appears says yes to nothing, however long it is. Once it
// was quiet, a key counts.
func TestATextThatIsTypedOnNeverSaysYes(t *testing.T) {
	for _, text := range []string{"yes\r", "xy", "\ry", "zzzzzzzzy", "kys", "ja"} {
		f := newFixture(t, "bash", "two")
		p := f.play(t, 80, 30)
		p.edit = func(r *approval.Request) editedEvent { return editedEvent{id: r.ID, at: p.now} }
		p.state.arm(p.now)
		at := p.now
		for i := range 200 {
			at = at.Add(60 * time.Millisecond)
			p.event(keyEvent{name: string(text[i%len(text)]), text: string(text[i%len(text)]), at: at})
			p.event(tickEvent{at})
		}
		for i := range 2 {
			if f.state(i) != policy.StatePending {
				t.Fatalf("%q: call %d is %s", text, i, f.state(i))
			}
		}
		at = at.Add(400 * time.Millisecond)
		p.event(tickEvent{at})
		if p.event(keyEvent{name: "y", text: "y", at: at}); f.state(0) != policy.StateApproved {
			t.Errorf("%q, then quiet: %s", text, f.state(0))
		}
	}
}

// A word that is typed quickly opens a dialog and answers nothing in it.
func TestAWordTypedAtThePromptKeepsNothing(t *testing.T) {
	for _, word := range []string{"day", "may", "say", "Any", "easy"} {
		f := newFixture(t, "bash", "two")
		p := f.play(t, 80, 30)
		p.edit = func(r *approval.Request) editedEvent { return editedEvent{id: r.ID, at: p.now} }
		p.wait()
		at := p.now
		for _, r := range word {
			at = at.Add(80 * time.Millisecond)
			p.event(keyEvent{name: string(r), text: string(r), at: at})
		}
		for i := range 2 {
			if f.state(i).Runs() {
				t.Errorf("%q: call %d is %s", word, i, f.state(i))
			}
		}
	}
}

// What was jumped over was not seen.
func TestJumpingToTheEndIsNotSeeing(t *testing.T) {
	f := newFixture(t, "diff")
	p := f.play(t, 80, 14)
	p.keys("<end>", "s")
	if p.state.dialog != nil {
		t.Fatal("a lasting answer is offered for what was jumped over")
	}
}

// A dialog that does not fit on the screen takes no yes.
func TestADialogThatDoesNotFitTakesNoYes(t *testing.T) {
	f := newFixture(t, "bash", "two")
	p := f.play(t, 80, 40)
	p.keys("s")
	p.event(sizeEvent{80, 9})
	p.keys("y")
	if f.state(0) != policy.StatePending {
		t.Fatalf("%s", f.state(0))
	}
	p.event(sizeEvent{80, 40})
	p.keys("y")
	if f.state(0) != policy.StateApproved {
		t.Fatalf("enlarged: %s", f.state(0))
	}
}

func TestQuietEndsAfter400ms(t *testing.T) {
	f := newFixture(t, "diff")
	p := f.play(t, 80, 24)
	p.state.arm(p.now)
	p.event(tickEvent{p.now.Add(399 * time.Millisecond)})
	p.wants("the keys work in a moment")
	p.event(tickEvent{p.now.Add(400 * time.Millisecond)})
	p.wants("your answer?")
	p.event(keyEvent{name: "y", at: p.now.Add(400 * time.Millisecond)})
	if f.state(0) != policy.StateApproved {
		t.Fatal("not answered")
	}
}

func TestDenyWithNote(t *testing.T) {
	f := newFixture(t, "diff")
	p := f.play(t, 80, 24)
	p.keys("N")
	p.wants("a note to the model?")
	p.keys("use ", "another file", "<enter>")
	p.wants("Deny for how long?", "Note: use another file")
	p.keys("<enter>")
	o := f.batch.Outcome(0)
	if o.State != policy.StateDenied || o.Note() != "use another file" || o.Decision.Remember.Keep != approval.KeepNone {
		t.Fatalf("%s, %q", o.State, o.Note())
	}
	if len(p.said) != 1 || !strings.Contains(p.said[0], "✗ denied") || !strings.Contains(p.said[0], "use another file") {
		t.Fatalf("said %q", p.said)
	}
}

func TestTheWordNoDenies(t *testing.T) {
	f := newFixture(t, "diff")
	p := f.play(t, 80, 24)
	p.keys("no", "<enter>", "o")
	if o := f.batch.Outcome(0); o.State != policy.StateDenied || o.Note() != "" {
		t.Fatalf("%s, note %q", o.State, o.Note())
	}
}

func TestBrokenViewCannotBeApproved(t *testing.T) {
	f := newFixture(t, "broken", "two")
	p := f.play(t, 80, 24)
	p.wants("cannot be shown: disk on fire")
	p.keys("y", "s", "a", "c", "A", "y")
	if f.state(0) != policy.StatePending {
		t.Fatal(f.state(0))
	}
}

func TestStop(t *testing.T) {
	f := newFixture(t, "one", "two")
	p := f.play(t, 80, 40)
	p.keys("q", "enough", "<enter>")
	if e := p.state.end; !p.state.over || !e.stopped || e.note != "enough" || e.request.Call.ID != "one" {
		t.Fatalf("%+v", e)
	}
}

func TestInterrupt(t *testing.T) {
	for name, press := range map[string]func(p *player){
		"ctrl+c":                   func(p *player) { p.keys("<ctrl+c>") },
		"ctrl+c before it is read": func(p *player) { p.state.arm(p.now); p.event(keyEvent{name: "ctrl+c", at: p.now}) },
		"ctrl+c in a dialog":       func(p *player) { p.keys("N", "abc", "<ctrl+c>") },
		"ctrl+d":                   func(p *player) { p.keys("<ctrl+d>") },
		"end of input":             func(p *player) { p.event(interruptEvent{"end of input"}) },
	} {
		f := newFixture(t, "one")
		p := f.play(t, 80, 40)
		press(p)
		if !p.state.over || !p.state.end.interrupted || f.state(0) != policy.StatePending {
			t.Errorf("%s: %+v", name, p.state.end)
		}
	}
}

func TestAnsweredElsewhere(t *testing.T) {
	f := newFixture(t, "one", "two")
	p := f.play(t, 80, 40)
	p.keys("N", "typing a note")
	d := f.batch.Pending()[0].Approve("")
	d.By = policy.Who{User: "bob", Via: policy.ViaInbox}
	if err := f.batch.Resolve(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	p.event(p.work.settled(nil, nil))
	if len(p.said) != 1 || !strings.Contains(p.said[0], "approved by bob (inbox)") {
		t.Fatalf("said %q", p.said)
	}
	p.wants("Write notes/two", "2 of 2")
	if p.state.dialog != nil {
		t.Error("the dialog of the other request is still open")
	}
}

func TestLosingAnswerIsTold(t *testing.T) {
	f := newFixture(t, "one")
	p := f.play(t, 80, 40)
	d := f.batch.Pending()[0].Deny("")
	d.By = policy.Who{User: "bob", Via: policy.ViaInbox}
	if err := f.batch.Resolve(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	p.keys("y")
	if f.state(0) != policy.StateDenied || len(p.said) != 1 || !strings.Contains(p.said[0], "denied by bob (inbox)") {
		t.Fatalf("%s, said %q", f.state(0), p.said)
	}
}
