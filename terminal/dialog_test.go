package terminal

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

func TestApproveAllTakesOnlyWhatWasSeen(t *testing.T) {
	f := newFixture(t, "one", "two", "person", "long", "five")
	p := f.play(t, 80, 40)
	p.wants("1 of 5")
	p.keys("<tab>", "<tab>")
	p.wants("3 of 5")
	p.keys("<tab>", "A")
	p.wants("Approve 2 requests", "Write notes/one", "Delete / (each time by a person)", "data/export.txt (was not on screen in full)", "notes/five (was not on screen in full)")
	p.keys("y")
	want := []policy.State{policy.StateApproved, policy.StateApproved, policy.StatePending, policy.StatePending, policy.StatePending}
	for i, w := range want {
		if got := f.state(i); got != w {
			t.Errorf("call %d: %s, want %s", i, got, w)
		}
	}
	p.wants("3 requests left open", "of 5")
}

func TestDenyAll(t *testing.T) {
	f := newFixture(t, "one", "two", "person")
	p := f.play(t, 80, 40)
	p.keys("D", "not now", "<enter>")
	for i := range 3 {
		if o := f.batch.Outcome(i); o.State != policy.StateDenied || o.Note() != "not now" {
			t.Errorf("call %d: %s %q", i, o.State, o.Note())
		}
	}
	if !p.state.over {
		t.Error("the prompt is still open")
	}
}

func TestEdit(t *testing.T) {
	f := newFixture(t, "one")
	p := f.play(t, 80, 40)
	p.edit = func(r *approval.Request) editedEvent {
		content, suffix, err := draftContent(r)
		if string(content) != "text of one" || suffix != ".txt" || err != nil {
			t.Errorf("editing %q, %q, %v", content, suffix, err)
		}
		args, err := changedArguments(r, []byte("other text"))
		return editedEvent{id: r.ID, arguments: args, err: err, at: p.now}
	}
	p.keys("e")
	if f.state(0) != policy.StatePending || len(p.said) != 1 || !strings.Contains(p.said[0], "changed, asking again") {
		t.Fatalf("%s, said %q", f.state(0), p.said)
	}
	p.wants("Write notes/one")
	p.keys("y")
	o := f.batch.Outcome(0)
	var args map[string]any
	_ = json.Unmarshal(o.Call.Arguments, &args)
	if o.State != policy.StateApproved || args["content"] != "other text" || o.Original == nil {
		t.Fatalf("%s with %v", o.State, args)
	}
}

func TestEditNothing(t *testing.T) {
	f := newFixture(t, "one")
	p := f.play(t, 80, 40)
	p.edit = func(r *approval.Request) editedEvent { return editedEvent{id: r.ID, at: p.now} }
	p.keys("e")
	p.wants("Nothing was changed")
}

func TestRespond(t *testing.T) {
	f := newFixture(t, "one")
	p := f.play(t, 80, 40)
	p.keys("r", "<ctrl+d>")
	p.wants("Type the result first")
	p.keys("first line", "<enter>", "second", "<ctrl+d>")
	o := f.batch.Outcome(0)
	if o.State != policy.StateAnswered || o.Decision.Result != "first line\nsecond" {
		t.Fatalf("%s %q", o.State, o.Decision.Result)
	}
}

func TestWhy(t *testing.T) {
	f := newFixture(t, "diff")
	p := f.play(t, 80, 40)
	p.keys("?")
	p.wants("Why it asks", "notes asks for writes (policy.yaml:7)", "no rule and no grant covers it", "allow write_file(notes/**)", "fingerprint")
}

func TestGrants(t *testing.T) {
	f := newFixture(t, "one", "sub/x")
	p := f.play(t, 80, 40)
	p.keys("g")
	p.wants("Grants of this session", "None.")
	p.keys("<esc>")
	f.grant(t, "g1")
	f.grant(t, "g2")
	f.grant(t, "g3")
	left := func() int {
		set, _ := f.memory.Grants(t.Context(), "s")
		return len(set.Grants())
	}
	p.keys("g", "<down>", "x")
	p.wants("allow write_file(notes/sub)")
	if left() != 2 {
		t.Fatalf("%d left", left())
	}
	p.keys("X")
	if left() != 0 {
		t.Fatalf("%d left", left())
	}
	p.wants("None.")
}

func TestHistory(t *testing.T) {
	f := newFixture(t, "one", "two")
	p := f.play(t, 80, 40)
	p.work.remember(text("✓ approved: something before"))
	p.keys("h")
	p.wants("Decided in this session", "something before")
}

func TestChoice(t *testing.T) {
	f := newFixture(t, "bash")
	p := f.play(t, 80, 40)
	p.keys("c", "y")
	if f.state(0) != policy.StatePending {
		t.Fatal("approved without a choice")
	}
	p.wants("with network")
	p.keys("1", "y")
	if o := f.batch.Outcome(0); o.State != policy.StateApproved || o.Decision.Choice != "net" {
		t.Fatalf("%s %+v", o.State, o.Decision)
	}
}
