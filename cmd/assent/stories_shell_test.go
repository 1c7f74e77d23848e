package main

import "testing"

// shellPolicy is a policy under which programs that only read are free.
const shellPolicy = `sandbox:
  paths:
    notes:
      mode: rw
      approval: {read: allow, write: ask, delete: ask}
shell:
  cwd: notes
  presets: [readonly]
  rules:
    - {pattern: sort -u, approval: allow}
    - {pattern: mkdir, approval: ask, description: "Make a folder"}
    - {pattern: rm, approval: deny, reason: "nothing is deleted here"}
`

// command is a call of the shell.
func command(id, text string) call {
	return call{id, "shell", map[string]any{"command": text}}
}

// S08 Shell commands one by one.
func TestShellCommandsOneByOne(t *testing.T) {
	s := tell(t, shellPolicy, []call{command("a", "cat today.md   &&   touch new.txt > log.txt")})
	x := s.run()
	x.asked("shell", `$ cat today.md && touch new.txt > log.txt`, "Working directory: notes",
		"✓ shell(cat today.md)", "read-only preset", "✓ read_file(notes/today.md)",
		"? shell(touch new.txt)", "asks: no rule allows it", "? write_file(notes/new.txt)", "? write_file(notes/log.txt)")
	s.hasNot("notes/log.txt")
	x.denies("use the file tools")
	x.ends(0, "✗ shell: denied", "The person said: use the file tools.", "That was all.")
	s.hasNot("notes/new.txt")
	s.hasNot("notes/log.txt")
}

// S08 Shell commands one by one.
func TestShellCommandsOneByOne_Approved(t *testing.T) {
	s := tell(t, shellPolicy, []call{command("a", "touch new.txt && echo made")})
	x := s.run()
	x.asked("touch new.txt")
	x.types("y")
	x.ends(0, "✓ shell: approved", "made")
	s.has("notes/new.txt", "")
}

// S09 Shell patterns.
func TestShellPatterns(t *testing.T) {
	s := tell(t, shellPolicy, []call{command("a", "sort -u today.md -r"), command("b", "sort -ux today.md")})
	x := s.run()
	x.asked("sort -ux today.md", "!1 of 2")
	x.types("n")
	x.ends(0, "✓ shell: free", "✗ shell: denied")
}

// S09 Shell patterns.
func TestShellPatterns_Description(t *testing.T) {
	s := tell(t, shellPolicy, []call{command("a", "mkdir plans")})
	x := s.run()
	x.asked("Make a folder", "$ mkdir plans")
	x.types("y")
	x.ends(0, "✓ shell: approved")
}

// S10 Never.
func TestNever(t *testing.T) {
	s := tell(t, shellPolicy, []call{command("a", "cat today.md; r''m -f today.md")})
	x := s.run()
	x.ends(0, "✗ shell: blocked", "Policy forbids it and nobody can approve it: nothing is deleted here", "policy.yaml:12", "it is shell(rm -f today.md) on line 1; without it this may run: cat today.md", "!your answer?")
}

// S18 Commands.
func TestCommands(t *testing.T) {
	s := tell(t, shellPolicy, []call{command("a", "for word in one two; do\n  touch \"$word.txt\"\ndone")})
	x := s.runAt(60, 40)
	x.asked("for word in one two; do", `touch "$word.txt"`, "Working directory: notes", "? shell(touch one.txt)", "? shell(touch two.txt)")
	x.types("y")
	x.ends(0, "✓ shell: approved")
	s.has("notes/one.txt", "")
	s.has("notes/two.txt", "")
}

// S21 Always.
func TestAlways_ForACommand(t *testing.T) {
	s := tell(t, shellPolicy, []call{command("a", "cat today.md && timeout 5 touch new.txt")})
	x := s.run()
	x.asked("touch new.txt")
	x.types("a")
	x.offered("Always allow", "allow shell(= touch new.txt)", "!allow shell(timeout", "!allow write_file")
	x.types("y")
	x.ends(0, "✓ approved always")
	s.turns([]call{command("b", "touch new.txt")}, []call{command("c", "cd ..; touch new.txt")})
	x = s.run()
	x.asked("✓ shell: auto-approved", "cd ..")
	x.types("n")
	x.ends(0)
}

// S25 Nothing hidden.
func TestNothingHidden_InCommands(t *testing.T) {
	s := tell(t, shellPolicy, []call{command("a", "cat today.md \u202e# x\ntouch y")})
	x := s.run()
	x.asked(`\u{202e}`, "Only a person may answer this")
	x.types("n")
	x.ends(0, "✗ shell: denied")
}

// S31 Deny first.
func TestDenyFirst(t *testing.T) {
	s := tell(t, shellPolicy+"rules:\n  - allow shell(touch)\n  - deny shell(touch secret)\n  - allow write_file(notes/**)\n",
		[]call{command("a", "touch plain.txt"), command("b", "touch secret")})
	x := s.run()
	x.ends(0, "✓ shell: auto-approved", "✗ shell: auto-denied", "!your answer?")
	s.has("notes/plain.txt", "")
	s.hasNot("notes/secret")
}
