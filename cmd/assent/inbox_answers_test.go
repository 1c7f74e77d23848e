package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
)

// inboxes returns how many inboxes others believe to be open.
func (p *project) inboxes() (n int) {
	p.t.Helper()
	s, err := store.Open(p.t.Context(), filepath.Join(p.home, "state", "assent"), store.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	defer s.Close()
	live, err := s.Sessions(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	for _, session := range live {
		if session.Kind == sessions.KindInbox {
			n++
		}
	}
	return n
}

// config writes the user's own config.
func (p *project) config(text string) {
	p.t.Helper()
	dir := filepath.Join(p.home, "config", "assent")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

const twoWrites = `turns:
  - calls: [{id: a, tool: write_file, args: {path: notes/a.md, content: "one\n"}}]
  - calls: [{id: b, tool: write_file, args: {path: notes/a.md, content: "two\n"}}]
  - say: Both are written.
`

// An answer for the session holds in the process that asked, as at its own terminal.
// S05 For this session.
func TestForThisSession_InTheInbox(t *testing.T) {
	p := newProject(t, map[string]string{"notes.worker": notesWorker, "turns.yaml": twoWrites})
	x := p.inbox()
	r := p.asksInbox()
	x.picks("Create notes/a.md")
	x.types("s")
	x.offered("exactly this")
	x.types("y")
	r.ends(0, "Both are written.")
	p.has("notes/a.md", "two\n")
	x.sees("✓ approved for this session", "Nothing waits · 1 answered")
	x.leaves()
}

// A rule that is made in the inbox is kept, and settles what else waits.
// S21 Always.
func TestAlways_InTheInbox(t *testing.T) {
	p := notesProject(t)
	x := p.inbox()
	r := p.asksInbox()
	x.picks("Create notes/a.md")
	other := p.asksInbox()
	x.asked("1 of 2")
	x.types("a")
	x.offered("allow write_file(notes/a.md)", "This also answers 1 other request that waits:")
	x.types("y")
	r.ends(0)
	other.ends(0)
	x.sees("✓ approved always", "Nothing waits · 1 answered · 1 elsewhere")
	x.leaves()
	p.asksInbox().ends(0)
}

// Edited arguments are judged by the process that asked, and shown again.
// S20 Edit before approving.
func TestEditBeforeApproving_InTheInbox(t *testing.T) {
	p := notesProject(t)
	x := p.inbox("EDITOR=" + p.script(`echo edited > "$1"`))
	r := p.asksInbox()
	x.picks("Create notes/a.md", "one")
	x.types("e")
	x.wrote("changed, asking again")
	x.picks("Create notes/a.md (7 bytes, 1 line)", "edited")
	p.hasNot("notes/a.md")
	x.types("y")
	r.ends(0)
	p.has("notes/a.md", "edited\n")
	x.leavesIdle()
}

// S20b Answer instead.
func TestAnswerInstead_InTheInbox(t *testing.T) {
	p := notesProject(t)
	x := p.inbox()
	r := p.begin("run", "--json", "--ask", "inbox", "notes.worker", "Write.")
	x.picks("Create notes/a.md")
	x.types("r")
	x.sees("Answer in the tool's place")
	x.types("it is there already\x04")
	r.ends(0, "it is there already")
	x.sees("✎ answered: write_file")
	x.leaves()
	p.hasNot("notes/a.md")
}

// q ends the run that asks, and no other.
// S03 Deny with words.
func TestDenyWithWords_InboxStopsTheRun(t *testing.T) {
	p := notesProject(t)
	x := p.inbox()
	r := p.asksInbox()
	x.picks("Create notes/a.md")
	other := p.asksInbox()
	x.asked("1 of 2")
	x.types("q")
	x.sees("Deny and stop the run")
	x.types("enough\r")
	r.ends(3, "the run was stopped", "enough")
	x.sees("✗ denied: write_file")
	x.picks("Create notes/a.md")
	x.types("y")
	other.ends(0)
	x.sees("Nothing waits · 2 answered")
	x.leaves()
	p.has("notes/a.md", "one\n")
}

// What changed while the person read is asked again, with what is there now.
func TestInbox_WhatChangedIsAskedAgain(t *testing.T) {
	p := notesProject(t)
	p.put("notes/a.md", "before\n")
	x := p.inbox()
	r := p.asksInbox()
	x.picks("Edit notes/a.md", "before")
	p.put("notes/a.md", "changed meanwhile\n")
	x.types("y")
	x.picks("Edit notes/a.md", "changed meanwhile")
	p.has("notes/a.md", "changed meanwhile\n")
	x.types("y")
	r.ends(0)
	p.has("notes/a.md", "one\n")
	x.sees("Nothing waits · 2 answered")
	x.leaves()
}

// An answer without effect comes back, and says why.
func TestInbox_AnAnswerWithoutEffectComesBack(t *testing.T) {
	p := notesProject(t)
	p.config("limits: {rules: 1}\n")
	if out, err := p.assent("rules", "add", "allow read_file(x)").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	x := p.inbox()
	r := p.asksInbox()
	x.picks("Create notes/a.md")
	x.types("a")
	x.offered("allow write_file(notes/a.md)")
	x.types("y")
	x.picks("An earlier answer had no effect:", "rule")
	x.types("y")
	r.ends(0)
	x.leavesIdle()
}

// On a dumb terminal the inbox prints lines, and no escapes.
func TestInbox_DumbTerminal(t *testing.T) {
	p := notesProject(t)
	x := p.inbox("TERM=dumb")
	r := p.asksInbox()
	x.sees("AGENT", "Create notes/a.md", "answer>")
	x.types("\r") // opens it
	x.until("the question", func() bool { return strings.Count(x.raw.String(), "answer>") == 2 })
	x.types("y\r")
	r.ends(0)
	x.sees("✓ approved: write_file", "Nothing waits · 1 answered")
	x.types("\x03")
	x.ends(0)
	if containsAny(x.raw.String(), "\x1b") {
		t.Errorf("it sent escapes: %q", x.raw.String())
	}
}

func TestInbox_NoColour(t *testing.T) {
	p := notesProject(t)
	x := p.inbox("NO_COLOR=1")
	r := p.asksInbox()
	x.picks("Create notes/a.md")
	x.types("y")
	r.ends(0)
	x.sees("Nothing waits · 1 answered")
	x.leaves()
	if regexp.MustCompile(`\x1b\[([0-9;]*;)?[349][0-9]m`).MatchString(x.raw.String()) {
		t.Errorf("it sent colours: %q", x.raw.String())
	}
}
