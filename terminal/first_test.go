package terminal

import (
	"strings"
	"testing"

	"github.com/assent-dev/assent/policy"
)

// However long a summary is, the first screen says why it asks and which acts do.
func TestFirstScreen(t *testing.T) {
	for _, rows := range []int{24, 20, 18} {
		f := newFixture(t, "script", "two")
		p := f.play(t, 80, rows)
		if p.state.cramped() {
			t.Fatalf("%d rows are too few", rows)
		}
		p.wants("Asks because: ", "? shell(rm -rf build)", "it deletes a folder", "? shell(sh -c", "its code is not read", "[y] approve once")
		if n := strings.Count(p.screen(), "\n") + 1; n > rows {
			t.Errorf("%d rows are drawn on %d", n, rows)
		}
		if rows == 24 {
			golden(t, "views/first-80x24", p.screen())
		}
		p.keys("y")
		if f.state(0) != policy.StateApproved {
			t.Errorf("%d rows: %s", rows, f.state(0))
		}
	}
}

// All of it is further down: nothing of a summary or an act is lost.
func TestFirstScreen_TheRestIsBelow(t *testing.T) {
	p := newFixture(t, "script").play(t, 80, 24)
	all := strings.Builder{}
	for _, l := range p.state.current().page.rows {
		all.WriteString(l.String())
	}
	if got := strings.Count(all.String(), "very long script"); got < 2*700-50 { // a wrap parts some words
		t.Errorf("%d of the words are there", got)
	}
}

// Where the acts that ask do not fit, y is offered when all of them were on the screen.
func TestFirstScreen_YComesWhenAllActsWereShown(t *testing.T) {
	f := newFixture(t, "many")
	p := f.play(t, 80, 24)
	p.wants("Asks because: ", "? shell(rm file0)", "Scroll down first")
	if strings.Contains(p.screen(), "[y]") {
		t.Errorf("y is offered:\n%s", p.screen())
	}
	p.keys("y", "s", "a")
	p.keys("<end>", "y") // what was jumped over was not seen
	if f.state(0) != policy.StatePending || p.state.dialog != nil {
		t.Fatalf("%s:\n%s", f.state(0), p.screen())
	}
	p.keys("<home>", "<pgdown>", "<pgdown>", "<pgdown>", "<pgdown>")
	p.wants("[y] approve once")
	p.keys("y")
	if f.state(0) != policy.StateApproved {
		t.Error(f.state(0))
	}
}

// A terminal that is too low for that shows it in the pager, and the pager has the acts too.
func TestFirstScreen_Pager(t *testing.T) {
	f := newFixture(t, "many")
	p := f.play(t, 60, 8)
	p.keys("y")
	if f.state(0) != policy.StatePending {
		t.Fatal(f.state(0))
	}
	r := f.batch.Pending()[0]
	for _, want := range []string{r.Why, "shell(rm file0)", "shell(rm file39)", r.Summary} {
		if got := wholeText(r, p.state.current().view, noStyles); !strings.Contains(got, want) {
			t.Errorf("the pager does not show %.40q", want)
		}
	}
	p.keys("v", "y")
	if f.state(0) != policy.StateApproved || p.pages != 1 {
		t.Errorf("%s after %d pages", f.state(0), p.pages)
	}
}

// S03 Deny with words: n needs no further key.
func TestNDeniesAtOnce(t *testing.T) {
	f := newFixture(t, "one", "two")
	p := f.play(t, 80, 24)
	p.keys("n")
	o := f.batch.Outcome(0)
	if o.State != policy.StateDenied || o.Note() != "" || f.state(1) != policy.StatePending {
		t.Fatalf("%s %q, %s", o.State, o.Note(), f.state(1))
	}
	p.wants("Write notes/two")
}

func TestHints(t *testing.T) {
	f := newFixture(t, "one", "two")
	p := f.play(t, 80, 24)
	for key, hint := range map[string]string{
		"<enter>": "Enter alone answers nothing. Press y to approve, n to deny, ? for why.",
		"z":       "No such key here: z. Press y to approve",
		"c":       "No such key here: c.",
		"<f5>":    "No such key here: f5.",
	} {
		p.keys(key)
		p.wants(hint)
	}
	p.keys("A", "<enter>")
	p.wants("Enter does not say yes: press y, or Esc to go back.")
	p.keys("<esc>", "<down>")
	if strings.Contains(p.screen(), "No such key") || f.state(0) != policy.StatePending {
		t.Errorf("%s:\n%s", f.state(0), p.screen())
	}
}

func TestApproveAllSaysHowMany(t *testing.T) {
	p := newFixture(t, "one", "two", "three").play(t, 80, 40)
	p.wants("[A] approve all: 1 of 3", "[D] deny all 3")
	p.keys("<tab>")
	p.wants("[A] approve all: 2 of 3")
	p.keys("A")
	p.wants("Approve 2 requests, this once:", "[y] yes, approve 2")
	p.keys("<esc>", "<tab>")
	p.wants("[A] approve all 3")
}
