package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// leadWorker may call the analyst, and has folders that it reads freely and asked.
const leadWorker = `---
model: script:turns.yaml
sandbox:
  paths:
    notes: {mode: rw, approval: {write: ask}}
    open: {mode: ro}
    input: {mode: ro, approval: {read: ask}}
allow_workers: [analyst]
---
You lead.
`

const analystWorker = `---
description: Reads documents.
model: script:analyst.script
sandbox:
  paths:
    notes: {root: ../notes, mode: rw, approval: {write: allow}}
---
You read.
`

// callTurn is a script that calls the analyst with the attachments.
func callTurn(attachments string) string {
	return `turns:
  - calls: [{id: go, tool: worker_call, args: {worker: analyst, input: What is it about?, attachments: ` + attachments + `}}]
  - if: {call: go, denied: true}
    say: Then not.
  - if: {call: go, denied: false}
    set: {answer: {call: go}}
    say: "It says: ${answer}"
`
}

func crewProject(t *testing.T, attachments, analyst string) *project {
	t.Helper()
	return newProject(t, map[string]string{
		"lead.worker": leadWorker, "turns.yaml": callTurn(attachments), "workers/analyst.worker": analystWorker,
		"workers/analyst.script": analyst, "notes/a.md": "a\n", "open/free.md": "free\n", "input/secret.md": "secret\n",
	})
}

const sayMerger = "turns:\n  - say: A merger.\n"

// Each file is asked with path, size and receiver, before the delegation; then the
// delegation, with worker, input, attachments with sizes, and the chain of callers.
// S12 Delegating and S13 Sharing files.
func TestDelegating_WithAFile(t *testing.T) {
	p := crewProject(t, "[input/secret.md, open/free.md]", sayMerger)
	x := p.at("run", "lead.worker", "Go on.")
	x.asked("1 of 2", "share_file", "Share input/secret.md (7 bytes) with analyst", "secret")
	x.types("y")
	x.asked("worker_call", "Call worker analyst with 2 attachments", `"called_by": "lead"`, "What is it about?",
		"input/secret.md (7 bytes)", "open/free.md (5 bytes)")
	x.types("y")
	x.ends(0, "It says: A merger.")
}

// Denying a file means that the child never starts, and that nobody is asked about it.
// S13 Sharing files.
func TestSharingFiles_ADeniedFile(t *testing.T) {
	p := crewProject(t, "[input/secret.md]", sayMerger)
	x := p.at("run", "lead.worker", "Go on.")
	x.asked("Share input/secret.md (7 bytes) with analyst")
	x.denies("not that one")
	x.ends(0, "Then not.", "not that one", "share_file(input/secret.md, analyst) was denied (the person said: not that one), so the worker was not called", "!A merger", "!called_by")
}

// The same where a rule allows the delegation itself.
// S13 Sharing files.
func TestSharingFiles_ADeniedFileOfAnAllowedCall(t *testing.T) {
	p := crewProject(t, "[input/secret.md]", sayMerger)
	if out, err := p.assent("rules", "add", "allow worker_call(analyst)").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	x := p.at("run", "lead.worker", "Go on.")
	x.asked("Share input/secret.md (7 bytes) with analyst")
	x.denies("")
	x.ends(0, "Then not.", "✗ worker_call: denied", "!A merger")

	x = p.at("run", "lead.worker", "Go on.")
	x.asked("Share input/secret.md")
	x.types("y")
	x.ends(0, "It says: A merger.", "✓ worker_call: auto-approved")
}

// Where reading is free so is sharing; a deny of reading is one of sharing.
// S13 Sharing files.
func TestSharingFiles_FreeAndDeniedFiles(t *testing.T) {
	p := crewProject(t, "[open/free.md]", sayMerger)
	x := p.at("run", "lead.worker", "Go on.")
	x.asked("Call worker analyst", "!Share")
	x.types("y")
	x.ends(0, "It says: A merger.")
	if out, err := p.assent("rules", "add", "deny read_file(open/**)").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	x = p.at("run", "lead.worker", "Go on.")
	x.ends(0, "Then not.", "✗ share_file: auto-denied", "✗ worker_call: denied", "!A merger")
}

// A session grant covers the same worker with the same input and the same files.
// S12 Delegating.
func TestDelegating_SessionGrant(t *testing.T) {
	p := crewProject(t, "[open/free.md]", sayMerger)
	one := `{worker: analyst, input: One., attachments: [open/free.md]}`
	p.put("turns.yaml", `turns:
  - calls: [{id: a, tool: worker_call, args: `+one+`}]
  - calls: [{id: b, tool: worker_call, args: `+one+`}]
  - calls: [{id: c, tool: worker_call, args: {worker: analyst, input: Two., attachments: [open/free.md]}}]
  - calls: [{id: d, tool: worker_call, args: {worker: analyst, input: One.}}]
  - say: Done.
`)
	x := p.at("run", "lead.worker", "Go on.")
	x.asked("Call worker analyst", "One.")
	x.types("s")
	x.offered("exactly this")
	x.types("y")
	x.asked("Two.")
	x.types("y")
	x.asked(`"input": "One." }`)
	x.types("y")
	x.ends(0, "Done.", "✓ worker_call: session-approved")
}

// A child reaches at most what its caller does: what the caller asks stays asked, with the
// chain of workers in the prompt; a grant of the caller is not the child's.
func TestAChildAsksWithItsChain(t *testing.T) {
	p := crewProject(t, "[]", "turns:\n  - calls: [{id: w, tool: write_file, args: {path: notes/b.md, content: b}}]\n  - say: Written.\n")
	p.put("turns.yaml", `turns:
  - calls: [{id: own, tool: write_file, args: {path: notes/b.md, content: own}}]
  - calls: [{id: go, tool: worker_call, args: {worker: analyst, input: Write.}}]
  - say: Done.
`)
	x := p.at("run", "lead.worker", "Go on.")
	x.asked("Create notes/b.md")
	x.types("s")
	x.offered("exactly this")
	x.types("y")
	x.asked("Call worker analyst")
	x.types("y")
	x.asked("write_file", "Edit notes/b.md", "lead › analyst")
	x.types("y")
	x.ends(0, "Done.")
	p.has("notes/b.md", "b")
}

// What a stranger's worker asks for in a stop is the end of the whole run.
func TestAStopInAChildEndsTheRun(t *testing.T) {
	p := crewProject(t, "[]", "turns:\n  - calls: [{id: w, tool: write_file, args: {path: notes/b.md, content: b}}]\n  - say: Written.\n")
	x := p.at("run", "--on-deny", "stop", "lead.worker", "Go on.")
	x.asked("Call worker analyst")
	x.types("y")
	x.asked("notes/b.md")
	x.denies("no")
	x.ends(3, "the run was stopped: write_file", "!It says")
}

// A worker that is made is shown whole, may be changed, and can be called at once; it has
// no more than its creator.
// S11 Creating a worker.
func TestCreatingAWorker(t *testing.T) {
	create := `{name: analyst, description: Reads., instructions: You read documents., model: "script:analyst.script",
        paths: [{name: docs, path: open}]}`
	p := newProject(t, map[string]string{
		"lead.worker": leadWorker, "workers/analyst.script": "turns:\n  - calls: [{tool: read_file, args: {path: docs/free.md}}]\n  - say: A merger.\n",
		"notes/a.md": "a\n", "open/free.md": "free\n", "input/secret.md": "secret\n",
		"turns.yaml": `turns:
  - calls: [{id: make, tool: worker_create, args: ` + create + `}]
  - calls: [{id: go, tool: worker_call, args: {worker: analyst, input: What is it about?}}]
  - say: Done.
`})
	x := p.at("run", "lead.worker", "Go on.")
	x.asked("worker_create", "Create worker analyst", "name: analyst", "model: script:analyst.script", "root: ../open", "mode: ro", "You read documents.")
	p.hasNot("workers/analyst.worker")
	x.types("y")
	x.asked("Call worker analyst")
	p.has("workers/analyst.worker", "---\nname: analyst\ndescription: Reads.\nmodel: script:analyst.script\nsandbox:\n  paths:\n    docs:\n      root: ../open\n      mode: ro\n      approval:\n        read: allow\n---\nYou read documents.\n")
	x.types("y")
	x.ends(0, "Done.", "A merger.", "✓ read_file: free")
	if info, err := os.Stat(filepath.Join(p.dir, "workers/analyst.worker")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}

	// A name that is taken is refused, unless the prompt says that it replaces.
	x = p.at("run", "lead.worker", "Go on.")
	x.asked("Call worker analyst", "worker analyst exists already")
	x.denies("")
	x.ends(0)
	p.put("turns.yaml", strings.Replace("turns:\n  - calls: [{tool: worker_create, args: "+create+"}]\n", "description: Reads.", "description: Reads more., replace: true", 1))
	x = p.at("run", "lead.worker", "Go on.")
	x.asked("Replace worker analyst", "-description: Reads.", "+description: Reads more.")
	x.denies("")
	x.ends(0)

	// A locked one never is.
	p.put("workers/analyst.worker", "---\nlocked: true\n---\n")
	x = p.at("run", "lead.worker", "Go on.")
	x.ends(0, "worker_create: blocked", "worker analyst is locked")
}
