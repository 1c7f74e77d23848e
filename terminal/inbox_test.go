package terminal

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// fakeInbox is a batch as an inbox shows it.
type fakeInbox struct {
	*approval.Batch
	about About
}

func (fakeInbox) Watch() (<-chan struct{}, func())                  { return nil, func() {} }
func (in fakeInbox) About(context.Context, *approval.Request) About { return in.about }
func (fakeInbox) Quiet() []string                                   { return nil }
func (fakeInbox) Err() error                                        { return nil }
func (in fakeInbox) play(t *testing.T, f *fixture, columns int) *player {
	t.Helper()
	return in.playAt(t, f, columns, 0)
}

func (in fakeInbox) playAt(t *testing.T, f *fixture, columns, rows int) *player {
	t.Helper()
	return playDesk(t, NewWith(Config{Grants: f.memory, Wide: wideBash, Clock: func() time.Time { return start }}), in, columns, rows)
}

// waiting is an inbox in which three agents ask, in three repositories.
func waiting(t *testing.T) (*fixture, fakeInbox) {
	t.Helper()
	f := newFixture(t, "command", "one", "person")
	process := approval.Process{Host: "here", ID: 1, Started: "x"}
	for i, o := range []approval.Origin{
		{Agent: "claude-code", Folder: "/home/ann/src/shop", Branch: "main", Process: process, Until: start.Add(43 * time.Second)},
		{Agent: "codex", Folder: "/home/ann/src/a-blog-with-a-long-name", Branch: "fix/the-cart", Process: process},
		{Agent: "notes", Folder: "/home/ann/notes"},
	} {
		r := f.batch.Pending()[i]
		r.Origin, r.Created = o, start.Add(-[]time.Duration{12 * time.Second, 5 * time.Minute, 26 * time.Hour}[i])
	}
	return f, fakeInbox{Batch: f.batch}
}

// TestGoldenInbox draws what the inbox adds to the prompt, and the line while nothing waits.
func TestGoldenInbox(t *testing.T) {
	about := About{From: "a run, process 4242, since 10:31:07", Problem: "at most 100 rules are kept; remove one with 'assent rules remove'"}
	for _, columns := range []int{40, 80, 120} {
		f := newFixture(t, "diff", "two")
		p := fakeInbox{f.batch, about}.play(t, f, columns)
		p.keys("<enter>")
		golden(t, fmt.Sprintf("inbox/asks-%d", columns), p.screen())
		checkWidths(t, p.state.frame(), columns)
		quiet := quietText([]string{"Nothing waits", "12 answered", "3 elsewhere", "Ctrl-C leaves"}, columns-1)
		if quiet.width() >= columns {
			t.Errorf("%d cells in %d columns: %q", quiet.width(), columns, quiet)
		}
		golden(t, fmt.Sprintf("inbox/quiet-%d", columns), noStyles.painted([]line{quiet}))
	}
}

// q in an inbox denies what the run waits for that asks, and ends neither the inbox nor
// another run.
func TestInboxStop(t *testing.T) {
	f := newFixture(t, "two", "diff")
	other := f.batch.Pending()[1]
	other.Call.Session = "another"
	p := fakeInbox{f.batch, About{}}.play(t, f, 80)
	p.keys("<enter>", "q", "enough", "<enter>")
	o := f.batch.Outcome(0)
	if o.State != policy.StateDenied || !o.Decision.Stop || o.Note() != "enough" {
		t.Errorf("the run got %s, %+v", o.State, o.Decision)
	}
	if f.state(1) != policy.StatePending || p.state.over {
		t.Errorf("the other is %s, over %v", f.state(1), p.state.over)
	}
}

// Looks at the desk may be told in another order than they were made: what was answered
// does not come back.
func TestAnOldLookIsNotBelieved(t *testing.T) {
	f := newFixture(t, "two", "diff")
	p := f.play(t, 80, 40)
	old := p.work.settled(nil, nil)
	p.keys("y")
	p.event(old)
	if n := len(p.state.items); n != 1 || f.state(0) != policy.StateApproved {
		t.Errorf("%d requests are on the screen, the first is %s", n, f.state(0))
	}
}

// The list says who asks, where, since when and how urgent it is; details come with Enter.
// S49 Who asks?
func TestInboxList(t *testing.T) {
	for _, columns := range []int{40, 80, 120} {
		f, in := waiting(t)
		p := in.playAt(t, f, columns, 24)
		p.event(clockEvent{start})
		golden(t, fmt.Sprintf("inbox/list-%dx24", columns), p.screen())
		checkWidths(t, p.state.frame(), columns)
		p.keys("<down>", "<enter>")
		p.wait()
		p.wants("Write notes/one", "[Esc] list", "your answer?")
		if columns == 80 {
			golden(t, "inbox/details-80x24", p.screen())
		}
		p.keys("<esc>")
		p.wants("Inbox · 3 requests waiting", "▸ 2 codex")
		p.keys("<enter>", "y")
		if f.state(1) != policy.StateApproved || f.state(0) != policy.StatePending {
			t.Errorf("%s, %s", f.state(0), f.state(1))
		}
		p.wants("Inbox · 2 requests waiting", "✓ approved: write_file · Write notes/one") // back in the list
	}
}

// Whatever is pressed or clicked in the list, nothing is approved there.
func TestInboxList_NothingApproves(t *testing.T) {
	f, in := waiting(t)
	p := in.playAt(t, f, 80, 24)
	p.keys("y", "Y", "n", "s", "a", "A", "y", "z", "<tab>", "c", "<space>", "y", "<space>")
	for row := range 24 {
		p.event(clickEvent{row, p.now})
		if !p.state.listing {
			p.keys("<esc>")
		}
	}
	p.event(pasteEvent{"y"})
	for i := range 3 {
		if f.state(i) != policy.StatePending {
			t.Errorf("call %d: %s", i, f.state(i))
		}
	}
	p.keys("z")
	p.wants("Nothing is answered in this list.")
	p.keys("q")
	if !p.state.over || !p.state.end.interrupted {
		t.Error("q does not leave")
	}
}

// A click chooses, a second one opens; both are no answers.
func TestInboxList_Click(t *testing.T) {
	f, in := waiting(t)
	p := in.playAt(t, f, 80, 24)
	p.event(clickEvent{4, p.now}) // the border, the names, then the third
	if p.state.at != 2 || !p.state.listing {
		t.Fatalf("at %d:\n%s", p.state.at, p.screen())
	}
	p.event(clickEvent{4, p.now})
	p.wants("Delete /")
	for _, row := range []int{0, 1, 5, 20, 23, -1} {
		p.keys("<esc>")
		p.event(clickEvent{row, p.now})
		if p.state.at != 2 || !p.state.listing {
			t.Errorf("row %d: at %d", row, p.state.at)
		}
	}
}

// Of what is marked, only that is approved which was on the screen in full, and never what only a
// person may answer.
func TestInboxList_Marked(t *testing.T) {
	f, in := waiting(t)
	p := in.playAt(t, f, 80, 40)
	p.keys("A")
	p.wants("Nothing is marked.")
	p.keys("<space>", "<down>", "<down>", "<space>") // the first and the last
	p.wants("[A] approve marked: 0 of 2", "[D] deny 2 marked")
	p.keys("A", "y")
	p.wants("None of them was on screen in full")
	p.keys("<esc>", "<home>", "<enter>", "<esc>") // the first was seen now
	p.wants("[A] approve marked: 1 of 2")
	p.keys("A")
	p.wants("Approve 1 request, this once:", "✓ shell", "Delete / (each time by a person)")
	p.keys("<enter>")
	p.wants("Enter does not say yes")
	p.keys("y")
	for i, want := range []policy.State{policy.StateApproved, policy.StatePending, policy.StatePending} {
		if f.state(i) != want {
			t.Errorf("call %d: %s, want %s", i, f.state(i), want)
		}
	}
	p.keys("D")
	p.wants("Deny all 1 request: a note to the model?")
	p.keys("no", "<enter>")
	if f.state(1) != policy.StatePending || f.state(2) != policy.StateDenied || p.state.dialog != nil {
		t.Errorf("%s, %s", f.state(1), f.state(2))
	}
}

// While the list is open requests come and go; the cursor stays at the one it was at.
func TestInboxList_IsStable(t *testing.T) {
	f, in := waiting(t)
	p := in.playAt(t, f, 80, 24)
	p.keys("<down>")
	here := p.state.current().request
	all := f.batch.Pending()
	more := newFixture(t, "two").batch.Pending()[0]
	more.ID = "another"
	p.event(settledEvent{look: 100, pending: append(all, more), at: p.now})
	if p.state.current().request != here || len(p.state.items) != 4 || !p.state.listing {
		t.Fatalf("after a new one:\n%s", p.screen())
	}
	p.event(settledEvent{look: 101, pending: append(all[1:], more), at: p.now})
	if p.state.current().request != here || !p.state.listing {
		t.Fatalf("after one above has gone:\n%s", p.screen())
	}
	p.wants("asked again or withdrawn")
}

// More requests than rows: the cursor is always on the screen.
func TestInboxList_Long(t *testing.T) {
	var cases []string
	for i := range 40 {
		cases = append(cases, fmt.Sprint("case", i))
	}
	f := newFixture(t, cases...)
	p := fakeInbox{Batch: f.batch}.playAt(t, f, 80, 24)
	for i := range 40 {
		if !strings.Contains(p.screen(), fmt.Sprintf("▸  %-2d ", i+1)) {
			t.Fatalf("%d is not on the screen:\n%s", i+1, p.screen())
		}
		if n := strings.Count(p.screen(), "\n") + 1; n > 24 {
			t.Fatalf("%d rows", n)
		}
		p.keys("<down>")
	}
}

// A request that is answered elsewhere while a note is typed takes its prompt away; what is still
// typed does nothing in the list.
// S24 No stolen keys.
func TestInboxList_StealsNoKeys(t *testing.T) {
	f, in := waiting(t)
	p := in.playAt(t, f, 80, 24)
	p.keys("<down>", "<down>", "<space>", "<home>", "<enter>", "N", "not ")
	p.event(settledEvent{look: 100, pending: f.batch.Pending()[1:], at: p.now})
	for i, key := range []string{"D", "o", "q", "enter"} {
		p.event(keyEvent{name: key, text: key, at: p.now.Add(time.Duration(i) * 50 * time.Millisecond)})
	}
	if !p.state.listing || p.state.dialog != nil || p.state.over || f.state(2) != policy.StatePending {
		t.Errorf("%s:\n%s", f.state(2), p.screen())
	}
	p.wants("wait: the keys work in a moment")
	p.wait()
	p.wants("your choice?")
}
