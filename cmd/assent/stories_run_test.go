package main

import (
	"strings"
	"testing"
)

// notesWorker asks before it writes.
const notesWorker = `---
model: script:turns.yaml
sandbox: {paths: {notes: {mode: rw}}}
---
You keep notes.
`

const oneWrite = `turns:
  - say: I write it down.
    calls: [{id: a, tool: write_file, args: {path: notes/a.md, content: "one\n"}}]
  - if: {call: a, denied: true}
    say: Another time, then.
  - if: {call: a, denied: false}
    say: It is written down.
`

// The prompt names the tool, what it would do, why it asks and who; earlier output stays;
// nothing has happened.
// S01 Pause.
func TestPause_Run(t *testing.T) {
	p := newProject(t, map[string]string{"notes.worker": notesWorker, "turns.yaml": oneWrite})
	x := p.at("run", "notes.worker", "Write.")
	x.asked("I write it down.", "write_file", "Create notes/a.md (4 bytes, 1 line)", "writes are asked by default", "notes")
	p.hasNot("notes/a.md")
	x.types("y")
	x.ends(0, "✓ approved: write_file", "It is written down.")
	p.has("notes/a.md", "one\n")
}

// S03 Deny with words.
func TestDenyWithWords_Run(t *testing.T) {
	p := newProject(t, map[string]string{"notes.worker": notesWorker, "turns.yaml": oneWrite})
	x := p.at("run", "notes.worker", "Write.")
	x.asked("Create notes/a.md")
	x.denies("not now")
	x.ends(0, "not now", "Another time, then.")
	p.hasNot("notes/a.md")

	x = p.at("run", "--on-deny", "stop", "notes.worker", "Write.")
	x.asked("Create notes/a.md")
	x.denies("never")
	x.ends(3, "the run was stopped: write_file (write_file(notes/a.md)) was denied: never", "!Another time")

	x = p.at("run", "notes.worker", "Write.")
	x.asked("Create notes/a.md")
	x.types("q")
	x.sees("Deny and stop the run")
	x.types("enough\r")
	x.ends(3, "the run was stopped at a prompt: write_file", "enough")

	x = p.at("run", "notes.worker", "Write.")
	x.asked("Create notes/a.md")
	x.types("\x03")
	x.ends(130)
	p.hasNot("notes/a.md")
	if out, err := p.assent("audit", "list").Output(); err != nil || !strings.Contains(string(out), "dismissed") || !strings.Contains(string(out), "denied") {
		t.Errorf("%v: the log is\n%s", err, out)
	}
}

// A grant for the session lasts over the messages of one chat, and no longer.
// S05 For this session.
func TestForThisSession_GrantsLastUntilTheChatEnds(t *testing.T) {
	p := newProject(t, map[string]string{"notes.worker": notesWorker, "turns.yaml": `turns:
  - calls: [{id: a, tool: write_file, args: {path: notes/a.md, content: "${message}\n"}}]
  - {say: "First: ${message}.", listen: true}
  - calls: [{id: b, tool: write_file, args: {path: notes/a.md, content: "${message}\n"}}]
  - {say: "Then: ${message}.", listen: true}
`})
	x := p.at("chat", "notes.worker")
	x.sees("you:")
	x.types("one\r")
	x.asked("Create notes/a.md")
	x.types("s")
	x.offered("exactly this")
	x.types("y")
	x.sees("First: one.")
	x.types("two\r")
	x.sees("Then: two.")
	x.types("/quit\r")
	x.ends(0)
	p.has("notes/a.md", "two\n")

	x = p.at("chat", "notes.worker")
	x.sees("you:")
	x.types("three\r")
	x.asked("Edit notes/a.md")
	x.denies("")
	x.sees("First: three.")
	x.types("\x04")
	x.ends(0)
}

// A file that nobody trusts is shown and asked about once, before anything runs.
func TestTrustIsAskedOnce(t *testing.T) {
	p := newProject(t, map[string]string{"turns.yaml": oneWrite})
	p.put("notes.worker", notesWorker)
	x := p.at("run", "notes.worker", "Write.")
	x.sees("would allow:", "write after asking", "Trust it? [y/n]")
	p.hasNot("notes")
	x.types("n")
	x.ends(3, "it is not trusted")
	p.hasNot("notes")

	x = p.at("run", "notes.worker", "Write.")
	x.sees("Trust it? [y/n]")
	x.types("y")
	x.asked("Create notes/a.md")
	x.types("y")
	x.ends(0)
	p.has("notes/a.md", "one\n")

	x = p.at("run", "notes.worker", "Write.")
	x.asked("notes/a.md", "!Trust it?")
	x.types("y")
	x.ends(0)
}

// Calls of one turn are one batch: their places are told, and all can be answered at once.
// S22 Batches.
func TestBatches_Run(t *testing.T) {
	p := newProject(t, map[string]string{"notes.worker": notesWorker, "turns.yaml": `turns:
  - calls:
      - {id: a, tool: write_file, args: {path: notes/a.md, content: "a\n"}}
      - {id: b, tool: write_file, args: {path: notes/b.md, content: "b\n"}}
  - say: Done.
`})
	x := p.at("run", "notes.worker", "Write.")
	x.asked("1 of 2", "Create notes/a.md")
	p.hasNot("notes/a.md")
	x.types("y")
	x.asked("Create notes/b.md")
	p.hasNot("notes/a.md") // nothing runs before its batch is answered
	x.denies("")
	x.ends(0, "Done.")
	p.has("notes/a.md", "a\n")
	p.hasNot("notes/b.md")
}
