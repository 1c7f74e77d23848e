package main

import (
	"os"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/demo"
)

const ideas = "# Ideas\n\n- a shelf for the hallway\n"

// S01 Pause.
func TestPause(t *testing.T) {
	s := tell(t, askWrites, []call{write("w", "notes/ideas.md", "# Ideas\n\n- none\n")}, []call{write("w2", "notes/new/deep.md", "deep\n")})
	x := s.run()
	x.asked("agent: I go on.", "write_file · tidy", "Edit notes/ideas.md (+1 −1 lines)",
		"Asks because: policy.yaml:3 asks before writes to notes", "- a shelf for the hallway", "- none")
	s.has("notes/ideas.md", ideas)
	x.types("y")
	x.asked("agent: I go on.", "Create notes/new/deep.md (5 bytes, 1 line)", "deep")
	s.hasNot("notes/new")
	x.denies("")
	x.ends(0, "A scripted agent tidies up notes in "+s.dir)
	s.hasNot("notes/new")
}

// S02 Approve.
func TestApprove(t *testing.T) {
	s := tell(t, askWrites, []call{write("w", "notes/a.md", "one\n")}, []call{write("w2", "notes/b.md", "two\n")})
	x := s.run()
	x.asked("Create notes/a.md")
	x.types("y")
	x.asked("✓ approved: write_file · Create notes/a.md (4 bytes, 1 line)", "✓ write_file: approved Done: Create notes/a.md", "Create notes/b.md")
	s.has("notes/a.md", "one\n")
	s.hasNot("notes/b.md")
	x.types("Y")
	x.ends(0, "✓ approved: write_file · Create notes/b.md", "agent: That was all.")
	s.has("notes/b.md", "two\n")
}

// S03 Deny with words.
func TestDenyWithWords(t *testing.T) {
	same := []call{{"d", "delete_file", map[string]any{"path": "notes/old.md"}}}
	s := tell(t, askWrites, same, same)
	x := s.run()
	x.asked("Delete notes/old.md")
	x.denies("I still need that one")
	// Nothing is remembered: the same call is asked again.
	x.asked("✗ denied: delete_file · Delete notes/old.md", "The person said: I still need that one. Do not retry", "your answer?")
	x.denies("")
	x.ends(0, "agent: That was all.", "delete_file(notes/old.md) denied", "(terminal): I still need that one")
	s.has("notes/old.md", demo.Notes["notes/old.md"])
}

// S03 Deny with words.
func TestDenyWithWords_ForTheSession(t *testing.T) {
	del := []call{{"d", "delete_file", map[string]any{"path": "notes/old.md"}}}
	s := tell(t, askWrites, del, del)
	x := s.run()
	x.asked("Delete notes/old.md")
	x.types("N")
	x.sees("a note to the model?")
	x.types("\r")
	x.sees("Deny for how long?")
	x.types("s")
	x.offered("Deny for this session", "deny delete_file(notes/old.md)")
	x.types("y")
	x.ends(0, "✗ denied for this session: delete_file", "delete_file(notes/old.md) auto-denied grant deny delete_file(notes/old.md)")
	s.has("notes/old.md", demo.Notes["notes/old.md"])
}

// S03 Deny with words.
func TestDenyWithWords_Always(t *testing.T) {
	del := []call{{"d", "delete_file", map[string]any{"path": "notes/old.md"}}}
	s := tell(t, askWrites, del)
	x := s.run()
	x.asked("Delete notes/old.md")
	x.types("N")
	x.sees("a note to the model?")
	x.types("\r")
	x.sees("Deny for how long?")
	x.types("a")
	x.offered("Always deny: this is saved", "deny delete_file(notes/old.md)")
	x.types("y")
	x.ends(0, "✗ denied always: delete_file")
	s.run().ends(0, "delete_file(notes/old.md) auto-denied rule deny delete_file(notes/old.md)")
	s.has("notes/old.md", demo.Notes["notes/old.md"])
}

// S03 Deny with words.
func TestDenyWithWords_Stop(t *testing.T) {
	s := tell(t, askWrites, []call{write("a", "notes/a.md", "one\n"), write("b", "notes/b.md", "two\n"), write("c", "notes/c.md", "three\n")},
		[]call{write("d", "notes/d.md", "four\n")})
	x := s.run()
	x.asked("1 of 3", "Create notes/a.md")
	x.types("y")
	x.asked("2 of 3", "Create notes/b.md")
	x.types("q")
	x.sees("Deny and stop the run: a note to the model?")
	x.types("this goes wrong\r")
	x.ends(3, "assent: the run was stopped at a prompt: write_file (Create notes/b.md (4 bytes, 1 line)): this goes wrong",
		"!agent: That was all.")
	for _, name := range []string{"notes/a.md", "notes/b.md", "notes/c.md", "notes/d.md"} {
		s.hasNot(name)
	}
}

// S03 Deny with words.
func TestDenyWithWords_OnDenyStop(t *testing.T) {
	s := tell(t, askWrites, []call{write("a", "notes/a.md", "one\n")}, []call{write("b", "notes/b.md", "two\n")})
	x := s.run("--on-deny=stop")
	x.asked("Create notes/a.md")
	x.denies("not now")
	x.ends(3, "assent: the run was stopped: write_file (write_file(notes/a.md)) was denied: not now", "!That was all")
	s.hasNot("notes/a.md")
	s.hasNot("notes/b.md")
}

// S04 Pre-approve in config.
func TestPreApproveInConfig(t *testing.T) {
	turns := [][]call{{write("a", "notes/a.md", "one\n")}, {write("b", "notes/b.md", "two\n")}}
	for name, line := range map[string]string{
		"path": "rules:\n  - allow write_file(notes/a.md)\n",
		"root": "", // below
		"tool": "tools:\n  make_dir: {approval: allow}\n",
	} {
		t.Run(name, func(t *testing.T) {
			policy, turns := askWrites+line, turns
			silent, asked := "Done: Create notes/a.md", "Create notes/b.md"
			switch name {
			case "root":
				policy = strings.Replace(askWrites, "    archive:\n      mode: ro\n", "    drafts:\n      mode: rw\n      approval: {write: allow}\n", 1)
				turns = [][]call{{write("a", "drafts/a.md", "one\n")}, {write("b", "notes/b.md", "two\n")}}
				silent = "Done: Create drafts/a.md"
			case "tool":
				turns = [][]call{{{"m", "make_dir", map[string]any{"path": "notes/sub"}}}, {write("b", "notes/b.md", "two\n")}}
				silent = "✓ make_dir: "
			}
			s := tell(t, policy, turns...)
			x := s.run()
			x.asked(asked, silent)
			x.denies("")
			x.ends(0)
			// Without the line the prompt is back.
			s.put("policy.yaml", askWrites+"    drafts:\n      mode: rw\n")
			for _, left := range []string{"notes/a.md", "drafts/a.md", "notes/sub"} {
				_ = os.Remove(s.dir + "/" + left)
			}
			x = s.run()
			x.asked("Asks because")
			x.denies("")
			x.asked(asked)
			x.denies("")
			x.ends(0)
		})
	}
}

// S05 For this session.
func TestForThisSession(t *testing.T) {
	one, two := []call{write("a", "notes/a.md", "one\n")}, []call{write("a2", "notes/./a.md", "more\n")}
	s := tell(t, askWrites, one, two, []call{write("b", "notes/b.md", "two\n")}, one)
	x := s.run()
	x.asked("Create notes/a.md", "[s] session")
	x.types("s")
	x.offered("Approve for this session", "▸ 1 exactly this allow write_file(notes/a.md)", "2 this folder allow write_file(notes/**)", "lasts: until the run ends", "for: this worker only")
	x.types("\r") // Enter answers nothing here either
	x.sees("wait: the keys work in a moment")
	x.offered("Approve for this session")
	x.types("y")
	// The same file, spelled otherwise, passes; another one asks.
	x.asked("✓ approved for this session: write_file", "✓ write_file: session-approved Done: Edit notes/a.md", "Create notes/b.md")
	s.has("notes/a.md", "more\n")
	x.types("g")
	x.sees("Grants of this session", "allow write_file(notes/a.md)", "until the run ends, by", "[x] revoke this")
	x.types("x")
	x.sees("Grants of this session", "None.")
	x.types("\x1b")
	x.asked("Create notes/b.md")
	x.types("y")
	x.asked("Edit notes/a.md", "-more +one")
	x.types("y")
	x.ends(0)
	// Grants end with the run.
	if err := os.Remove(s.dir + "/notes/b.md"); err != nil {
		t.Fatal(err)
	}
	s.turns(one)
	x = s.run()
	x.asked("notes/a.md", "Asks because")
	x.denies("")
	x.ends(0)
}

// S05 For this session.
func TestForThisSession_ReachAndTime(t *testing.T) {
	s := tell(t, askWrites, []call{write("a", "notes/a.md", "one\n")}, []call{write("b", "notes/b.md", "two\n")},
		[]call{{"d", "delete_file", map[string]any{"path": "notes/a.md"}}})
	x := s.run()
	x.asked("Create notes/a.md")
	x.types("s")
	x.sees("Approve for this session")
	x.types("2")
	x.sees("▸ 2 this folder")
	x.types("l")
	x.sees("lasts: for 15m0s")
	x.types("w")
	x.offered("for: also workers called from here")
	x.types("y")
	// Another file of the folder passes, another act does not.
	x.asked("✓ approved for 15m0s", "✓ write_file: session-approved Done: Create notes/b.md", "Delete notes/a.md")
	x.types("g")
	x.sees("allow write_file(notes/**)", "until", "also for called workers")
	x.types("\x1b")
	x.asked("Delete notes/a.md")
	x.denies("")
	x.ends(0)
}

// S06 `--approve-all`.
func TestApproveAll(t *testing.T) {
	s := tell(t, askWrites+"rules:\n  - deny read_file(notes/private/**)\n", []call{
		write("a", "notes/a.md", "one\n"), write("b", "archive/b.md", "two\n"),
		{"r", "read_file", map[string]any{"path": "notes/private/diary.md"}},
	})
	x := s.run("--approve-all")
	x.ends(0, "WARNING: --approve-all", "write_file(notes/a.md) mode-approved",
		"write_file(archive/b.md) blocked", "read_file(notes/private/diary.md) auto-denied", "!your answer?")
	s.has("notes/a.md", "one\n")
	s.hasNot("archive/b.md")
	if strings.Contains(x.raw.String(), "Nobody's business") {
		t.Error("a denied file was read")
	}
}

// S06 `--approve-all`.
func TestApproveAll_PersonOnly(t *testing.T) {
	// Deleting what is itself a root is for a person, whatever the policy and the mode say.
	s := tell(t, "sandbox:\n  paths:\n    old: {root: notes/old.md, mode: rw, approval: allow}\n",
		[]call{{"d", "delete_file", map[string]any{"path": "old"}}})
	x := s.run("--approve-all")
	x.asked("WARNING: --approve-all", "Delete old", "Only a person may answer this, each time.", "![s] session", "![a] always")
	x.types("sa") // not offered
	x.types("n")
	x.ends(0, "delete_file(old) denied")
	s.run("--strict").ends(0, "delete_file(old) mode-denied", "!your answer?")
	s.has("notes/old.md", demo.Notes["notes/old.md"])
	out, err := assent(t, nil, "demo", "--dir", s.dir, "--approve-all").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "✗ delete_file: denied") {
		t.Errorf("with nobody there: %v\n%s", err, out)
	}
	s.has("notes/old.md", demo.Notes["notes/old.md"])
}

// S07 `--strict`.
func TestStrict(t *testing.T) {
	s := tell(t, askWrites+"rules:\n  - allow write_file(notes/a.md)\n", []call{
		write("a", "notes/a.md", "one\n"), write("b", "notes/b.md", "two\n"), {"r", "read_file", map[string]any{"path": "notes/ideas.md"}},
	})
	x := s.run("--strict")
	x.ends(0, "✓ write_file: auto-approved Done: Create notes/a.md", "✗ write_file: mode-denied [DENIED] write_file did not run",
		"Reason: strict mode refuses what would have to be asked.", "✓ read_file: free", "!your answer?")
	s.has("notes/a.md", "one\n")
	s.hasNot("notes/b.md")
}
