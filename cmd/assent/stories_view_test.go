package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/demo"
)

// coloured finds text in a colour, however the program orders what it sends before it.
func coloured(raw, colour, text string) bool {
	return regexp.MustCompile(`\x1b\[(?:\d+;)*` + colour + `(?:;\d+)*m[^\x1b]*` + regexp.QuoteMeta(text)).MatchString(raw)
}

// S14 History.
func TestHistory(t *testing.T) {
	s := tell(t, askWrites, []call{{"r", "read_file", map[string]any{"path": "notes/ideas.md"}}}, []call{write("a", "notes/a.md", "one\n")},
		[]call{write("x", "archive/x.md", "no\n")}, []call{write("b", "notes/b.md", "two\n")})
	x := s.run()
	x.asked("Create notes/a.md")
	x.types("s")
	x.offered("Approve for this session")
	x.types("y")
	x.asked("Create notes/b.md")
	x.types("h")
	x.sees("Decided in this session", "free: read_file(notes/ideas.md)", "approved: write_file(notes/a.md)", "blocked: write_file(archive/x.md)")
	x.types("\x1b")
	x.asked("Create notes/b.md", "!Decided in this session")
	x.types("g")
	x.sees("Grants of this session", "allow write_file(notes/a.md)")
	x.types("\x1b")
	x.asked("Create notes/b.md", "!Grants of this session")
	x.denies("")
	x.ends(0)
}

// S15 Nobody there.
func TestNobodyThere_BothModes(t *testing.T) {
	s := tell(t, askWrites, []call{write("a", "notes/a.md", "one\n")})
	x := s.run("--approve-all", "--strict")
	x.ends(2, "assent: --approve-all and --strict exclude each other; run 'assent demo --help' to see what it takes", "!A scripted agent")
	s.hasNot("notes/a.md")
}

// S16 Diffs.
func TestDiffs(t *testing.T) {
	s := tell(t, askWrites, []call{write("w", "notes/ideas.md", "# Ideas\n\n- a shelf for the kitchen\n")},
		[]call{{"e", "edit_file", map[string]any{"path": "notes/ideas.md", "old_text": "kitchen", "new_text": "cellar"}}})
	x := s.run()
	x.asked("@@ -1,3 +1,3 @@", "# Ideas", "-- a shelf for the hallway", "+- a shelf for the kitchen")
	// The lines are red and green, the words that differ reversed.
	for _, want := range [][2]string{{"31", "-- a shelf for the "}, {"32", "+- a shelf for the "}, {"7", "hallway"}, {"7", "kitchen"}} {
		if !coloured(x.raw.String(), want[0], want[1]) {
			t.Errorf("%q is not in colour %s: %q", want[1], want[0], x.raw.String())
		}
	}
	x.types("y")
	x.asked("Edit notes/ideas.md (+1 −1 lines)", "-- a shelf for the kitchen", "+- a shelf for the cellar")
	x.types("y")
	x.ends(0)
	s.has("notes/ideas.md", "# Ideas\n\n- a shelf for the cellar\n")
}

// S17 New files.
func TestNewFiles(t *testing.T) {
	s := tell(t, askWrites, []call{write("w", "notes/main.go", "package main\n\n// main greets.\nfunc main() { println(\"hello\") }\n")})
	x := s.run()
	x.asked("Create notes/main.go (63 bytes, 4 lines)", `func main() { println("hello") }`)
	if raw := x.raw.String(); !coloured(raw, "35", "package") || !coloured(raw, "32", `"hello"`) {
		t.Errorf("nothing is highlighted: %q", raw)
	}
	x.denies("")
	x.ends(0)
	s.hasNot("notes/main.go")
}

// S18 Commands.
func TestCommands_NarrowAndWide(t *testing.T) {
	// The demonstration has no commands: what is wrapped here is a file and a reason.
	for _, columns := range []uint16{40, 200} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			words := strings.Repeat("many words ", 20) + "end"
			s := tell(t, askWrites, []call{write("w", "notes/wide.md", words+"\n")})
			x := s.runAt(columns, 50)
			x.asked("Create notes/wide.md (224 bytes, 1 line)", words)
			x.types("y")
			x.ends(0)
			s.has("notes/wide.md", words+"\n")
		})
	}
}

// numbered is a text of n lines.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

// S19 Large content.
func TestLargeContent(t *testing.T) {
	s := tell(t, askWrites, []call{write("w", "notes/long.md", numbered(897))})
	seen := filepath.Join(t.TempDir(), "seen")
	s.env = []string{"PAGER=" + s.script("cat > "+seen, "echo the pager was here")}
	x := s.runAt(100, 80)
	x.asked("line 50 … 847 more lines", "!line 51 ", "To answer for the session or always, see all of it first: press v.", "![s] session", "![a] always")
	x.types("sa") // not offered, so nothing happens
	x.types("v")
	x.asked("[s] session", "[a] always")
	whole, err := os.ReadFile(seen)
	if err != nil || !strings.Contains(string(whole), numbered(897)) {
		t.Errorf("the pager saw %d bytes (%v)", len(whole), err)
	}
	s.hasNot("notes/long.md")
	x.types("y")
	x.ends(0)
	s.has("notes/long.md", numbered(897))
}

// S20 Edit before approving.
func TestEditBeforeApproving(t *testing.T) {
	s := tell(t, askWrites, []call{write("w", "notes/a.md", "the model's words\n")})
	before := filepath.Join(t.TempDir(), "before")
	s.env = []string{"EDITOR=" + s.script(`cp "$1" `+before, `echo "the person's words" > "$1"`)}
	x := s.run()
	x.asked("Create notes/a.md (18 bytes, 1 line)", "the model's words")
	x.types("e")
	x.asked("✎ changed, asking again: write_file", "Create notes/a.md (19 bytes, 1 line)", "the person's words")
	s.hasNot("notes/a.md")
	x.types("y")
	x.ends(0, "✓ write_file: approved", "[A person changed the arguments before approving. What ran:", "(terminal), after changing the arguments")
	s.has("notes/a.md", "the person's words\n")
	if data, err := os.ReadFile(before); string(data) != "the model's words\n" {
		t.Errorf("the editor opened %q (%v)", data, err)
	}
}

// S20 Edit before approving.
func TestEditBeforeApproving_IsJudgedAgain(t *testing.T) {
	s := tell(t, askWrites, []call{{"d", "delete_file", map[string]any{"path": "notes/old.md"}}})
	s.env = []string{"EDITOR=" + s.script(`echo '{"path": "archive/2025.md"}' > "$1"`)}
	x := s.run()
	x.asked("Delete notes/old.md")
	x.types("e")
	x.ends(0, "✗ delete_file: blocked", "read-only")
	s.has("notes/old.md", demo.Notes["notes/old.md"])
	s.has("archive/2025.md", demo.Notes["archive/2025.md"])
}

// S20b Answer instead.
func TestAnswerInstead(t *testing.T) {
	s := tell(t, askWrites, []call{write("w", "notes/a.md", "one\n")})
	x := s.run()
	x.asked("Create notes/a.md")
	x.types("r")
	x.sees("Answer in the tool's place")
	x.types("It is full.\rTry later.")
	x.sees("> It is full. Try later.")
	x.types("\x04")
	x.ends(0, "✎ answered: write_file", "✓ write_file: answered", "It is full. Try later.", "write_file(notes/a.md) answered")
	s.hasNot("notes/a.md")
}

func TestNoColour(t *testing.T) {
	s := tell(t, askWrites, []call{write("w", "notes/ideas.md", "# Ideas\n\n- a shelf for the kitchen\n")})
	s.env = []string{"NO_COLOR=1"}
	x := s.run()
	x.asked("+- a shelf for the kitchen")
	x.types("y")
	x.ends(0)
	if found := regexp.MustCompile(`\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8]|9\d|10\d)(?:;\d+)*m`).FindString(x.raw.String()); found != "" {
		t.Errorf("the colour %q was sent", found)
	}
}

func TestDumbTerminal(t *testing.T) {
	s := tell(t, askWrites, three[:2])
	s.env = []string{"TERM=dumb"}
	x := s.run()
	x.sees("1 of 2", "answer>")
	x.types("\nmaybe\nYES\n")
	x.sees("✓ approved: write_file · Create notes/a.md", "2 of 2")
	x.until("a second question", func() bool { return strings.HasSuffix(x.screen.Flat(), "answer>") })
	x.types("N\n")
	x.sees("a note to the model?")
	x.types("not that\n")
	x.sees("Deny for how long?")
	x.types("o\n")
	x.ends(0, "The person said: not that.")
	s.has("notes/a.md", "one\n")
	s.hasNot("notes/b.md")
	if containsAny(x.raw.String(), "\x1b", "\a") {
		t.Errorf("an escape was sent: %q", x.raw.String())
	}
}

func TestTheScriptOfTheDemo(t *testing.T) {
	t.Parallel()
	// As a person plays it, with the policy and the script that come along.
	x := start(t, 100, 45, assent(t, nil, "demo"))
	x.asked("edit_file · tidy", "Edit notes/today.md (+2 −2 lines)", "✓ read_file(notes/today.md) free · ? write_file(notes/today.md) asks")
	x.types("s")
	x.offered("Approve for this session")
	x.types("y")
	x.asked("✓ edit_file: session-approved", "✗ read_file: auto-denied", "✗ write_file: blocked", "1 of 3", "Create notes/index.md")
	x.types("y")
	x.asked("2 of 3", "Delete notes/old.md")
	x.denies("I still need that one")
	x.asked("3 of 3", "Edit notes/ideas.md")
	x.types("y")
	x.ends(0, "Then I only copy it into my drafts", "✓ copy_file: free", "That is all. Thank you.", "What was decided, and why:", "To try next:",
		"!recorded operator")
}

// S19 Large content.
func TestLargeContent_LongLine(t *testing.T) {
	s := tell(t, askWrites, []call{write("w", "notes/long.md", strings.Repeat("x", 2500)+"\n")})
	x := s.run()
	x.asked("Create notes/long.md (2501 bytes, 1 line)", "501 more characters", "![s] session")
	x.denies("")
	x.ends(0)
}
