package main

import (
	"strings"
	"testing"
)

// S21 Always.
func TestAlways(t *testing.T) {
	s := tell(t, askWrites, []call{write("a", "notes/a.md", "one\n")})
	x := s.run()
	x.asked("Create notes/a.md")
	x.types("a")
	x.sees("Always allow: this is saved", "allow write_file(notes/a.md)", "[e] edit")
	// A rule that does not cover the call is not saved.
	x.types("e")
	x.sees("> allow write_file(notes/a.md)")
	x.types("\x15allow write_file(notes/z.md)\r")
	x.offered("allow write_file(notes/z.md)")
	x.types("y")
	x.sees("the rules would not cover this call")
	s.hasNot("notes/a.md")
	s.remembers()
	x.types("\x1b")
	x.asked("Create notes/a.md", "!Always allow")
	x.types("a")
	x.offered("Always allow: this is saved", "allow write_file(notes/a.md)")
	x.types("y")
	x.ends(0, "✓ approved always: write_file")
	s.has("notes/a.md", "one\n")
	s.remembers("allow write_file(notes/a.md)")
	// The next run does not ask about this, and does about another file.
	s.turns([]call{write("a", "notes/a.md", "one more\n")}, []call{write("b", "notes/b.md", "two\n")})
	x = s.run()
	x.asked("✓ write_file: auto-approved Done: Edit notes/a.md", "Create notes/b.md")
	x.denies("")
	x.ends(0, "auto-approved rule allow write_file(notes/a.md)")
}

// S21 Always.
func TestAlways_WideRule(t *testing.T) {
	s := tell(t, askWrites, []call{write("a", "notes/a.md", "one\n")})
	x := s.run()
	x.asked("Create notes/a.md")
	x.types("a")
	x.sees("Always allow: this is saved")
	x.types("e")
	x.sees("> allow write_file(notes/a.md)")
	x.types("\x15allow write_file(**)\r")
	x.offered("allow write_file(**)")
	x.types("y")
	x.sees("Type yes to save it all the same:")
	x.types("y\r")
	x.sees("Nothing was saved: type yes, or go back with Esc.")
	s.remembers()
	x.types("es\r")
	x.ends(0, "✓ approved always")
	s.has("notes/a.md", "one\n")
}

// three calls at once.
var three = []call{write("a", "notes/a.md", "one\n"), write("b", "notes/b.md", "two\n"), write("c", "notes/c.md", "three\n")}

// S22 Batches.
func TestBatches(t *testing.T) {
	s := tell(t, askWrites, three)
	x := s.run()
	x.asked("1 of 3", "Create notes/a.md", "[A] approve all: 1 of 3", "[D] deny all 3")
	x.types("y")
	x.asked("2 of 3", "Create notes/b.md")
	s.hasNot("notes/a.md") // nothing runs before all are answered
	x.denies("not that")
	x.asked("3 of 3", "Create notes/c.md")
	x.types("y")
	x.ends(0, "write_file(notes/a.md) approved", "write_file(notes/b.md) denied", "write_file(notes/c.md) approved")
	s.has("notes/a.md", "one\n")
	s.hasNot("notes/b.md")
	s.has("notes/c.md", "three\n")
	// The summary is in the model's order.
	_, summary, _ := strings.Cut(x.screen.Flat(), "What was decided, and why:")
	if a, b, c := strings.Index(summary, "notes/a.md"), strings.Index(summary, "notes/b.md"), strings.Index(summary, "notes/c.md"); a > b || b > c {
		t.Errorf("the summary is in another order: %s", summary)
	}
}

// S22 Batches.
func TestBatches_All(t *testing.T) {
	s := tell(t, askWrites, three)
	x := s.run()
	x.asked("1 of 3")
	x.types("\t")
	x.asked("2 of 3", "Create notes/b.md")
	x.types("A")
	x.offered("Approve 2 requests", "Create notes/c.md (6 bytes, 1 line) (was not on screen in full)")
	x.types("y")
	x.asked("3 of 3", "Create notes/c.md")
	x.denies("")
	x.ends(0)
	s.has("notes/a.md", "one\n")
	s.has("notes/b.md", "two\n")
	s.hasNot("notes/c.md")
}

// S22 Batches.
func TestBatches_None(t *testing.T) {
	s := tell(t, askWrites, three)
	x := s.run()
	x.asked("1 of 3")
	x.types("D")
	x.sees("Deny all 3 requests: a note to the model?")
	x.types("not today\r")
	x.ends(0, "agent: That was all.", "write_file(notes/c.md) denied", "(terminal): not today")
	for _, name := range []string{"notes/a.md", "notes/b.md", "notes/c.md"} {
		s.hasNot(name)
	}
}

// S22 Batches.
func TestBatches_SameFile(t *testing.T) {
	s := tell(t, askWrites, []call{write("a", "notes/a.md", "one\n"),
		{"e", "edit_file", map[string]any{"path": "notes/a.md", "old_text": "one", "new_text": "two"}}})
	x := s.run()
	x.asked("1 of 2", "Create notes/a.md")
	x.types("y")
	x.asked("2 of 2", "Edit notes/a.md", "-one +two")
	x.types("y")
	x.ends(0)
	s.has("notes/a.md", "two\n")
}

// S23 Why.
func TestWhy(t *testing.T) {
	s := tell(t, askWrites, []call{write("a", "notes/a.md", "one\n")})
	x := s.run()
	x.asked("Create notes/a.md")
	x.types("?")
	x.sees("Why it asks", "policy.yaml:3 asks before writes to notes", "1. ",
		"It would not ask if one of these rules were saved:", "allow write_file(notes/a.md)", "allow write_file(notes/**)", "fingerprint")
	x.types("\x1b")
	x.asked("Create notes/a.md", "!Why it asks")
	x.denies("")
	x.ends(0)
}

// S24 No stolen keys.
func TestNoStolenKeys(t *testing.T) {
	s := tell(t, askWrites, three[:1])
	x := s.run()
	x.types("yyyy\r\rA") // before anything is on the screen
	x.wrote("wait: the keys work in a moment")
	x.asked("Create notes/a.md")
	x.types("\r\r z\x1b[200~y\x1b[201~") // Enter, keys that mean nothing, a paste
	x.types("?")
	x.sees("Why it asks")
	x.types("\x1b")
	x.asked("Create notes/a.md", "!Why it asks")
	s.hasNot("notes/a.md")
	x.denies("")
	x.ends(0, "✗ denied")
	s.hasNot("notes/a.md")
}

// S25 Nothing hidden.
func TestNothingHidden(t *testing.T) {
	content := "a\x1b[2Jb \x1b]0;owned\x07 c\u202ed\u202c e\u200bf \u2066g\u2069 h\ri\x08j \u009b31mk \ufeffl\n"
	s := tell(t, askWrites, []call{write("w", "notes/\u202eevil.md", content), {"r", "read_file", map[string]any{"path": "notes/\x1b[31mred.md"}}})
	s.put("notes/ideas.md", ideas)
	x := s.run()
	x.asked(`a\x1b[2Jb`, `\x1b]0;owned\x07`, `c\u{202e}d\u{202c}`, `e\u{200b}f`, `\u{2066}g\u{2069}`, `\u{202e}evil.md`)
	x.types("y")
	x.ends(0)
	for _, hidden := range []string{"\x1b[2Jb", "\x1b]0;owned", "\x1b[31mred", "\u202e", "\u202c", "\u200b", "\u2066", "\u2069", "\u009b", "\ufeff", "\x08"} {
		if strings.Contains(x.raw.String(), hidden) {
			t.Errorf("%q reached the terminal", hidden)
		}
	}
	s.has("notes/\u202eevil.md", content)
}
