package main

import (
	"strings"
	"testing"
)

// What was shown is what runs: a file that changed while the prompt was open is asked
// about again, with a fresh view.
// S02 Approve.
func TestApprove_ChangedMeanwhile(t *testing.T) {
	s := tell(t, askWrites, []call{write("w", "notes/ideas.md", "# Ideas\n\n- none\n")})
	x := s.run()
	x.asked("-- a shelf for the hallway", "+- none")
	s.put("notes/ideas.md", ideas+"- something that nobody has seen\n")
	x.types("y")
	x.asked("-- something that nobody has seen", "+- none")
	s.has("notes/ideas.md", ideas+"- something that nobody has seen\n")
	x.denies("")
	x.ends(0)
	s.has("notes/ideas.md", ideas+"- something that nobody has seen\n")
}

// The second call was shown on top of the first; without it, it is another question.
// S22 Batches.
func TestBatches_EarlierDenied(t *testing.T) {
	s := tell(t, askWrites, []call{write("w", "notes/ideas.md", "# Ideas\n\n- none\n"),
		{"e", "edit_file", map[string]any{"path": "notes/ideas.md", "old_text": "# Ideas", "new_text": "# Plans"}}})
	x := s.run()
	x.asked("1 of 2", "+- none")
	x.types("\t")
	x.asked("2 of 2", "-# Ideas +# Plans", "- none", "!shelf")
	x.types("y")
	x.asked("-- a shelf for the hallway", "+- none", "✓ approved: edit_file")
	x.denies("")
	x.asked("-# Ideas +# Plans", "- a shelf for the hallway")
	s.has("notes/ideas.md", ideas)
	x.types("y")
	x.ends(0)
	s.has("notes/ideas.md", strings.Replace(ideas, "# Ideas", "# Plans", 1))
}

func TestAskTimeout(t *testing.T) {
	s := tell(t, askWrites, three[:1])
	x := s.run("--ask-timeout", "2s")
	x.wrote("Create notes/a.md")
	x.ends(0, "✗ write_file: expired", "nobody answered in time", "write_file(notes/a.md) expired", "agent: That was all.", "!your answer?")
	x = s.run("--ask-timeout", "2s", "--on-deny", "stop")
	x.wrote("Create notes/a.md")
	x.ends(3, "assent: the run was stopped: write_file (write_file(notes/a.md)) was expired", "!That was all")
	s.hasNot("notes/a.md")
}

// The last line of a run names what the model chose, too.
// S25 Nothing hidden.
func TestNothingHidden_InErrors(t *testing.T) {
	s := tell(t, askWrites, []call{write("w", "notes/dm.\u202eevil.md", "one\n")})
	for _, flag := range []string{"--on-deny=stop", "--on-deny=continue"} {
		x := s.run(flag)
		x.asked(`Create notes/dm.\u{202e}evil.md`)
		if flag == "--on-deny=stop" {
			x.denies("no")
		} else {
			x.types("q")
			x.sees("Deny and stop the run")
			x.types("no\r")
		}
		x.ends(3, "assent: the run was stopped", `notes/dm.\u{202e}evil.md`)
		if containsAny(x.raw.String(), "\u202e") {
			t.Errorf("%s: a control reached the terminal: %q", flag, x.raw.String())
		}
	}
}

// The transcript may go into a file; the person is asked at the terminal all the same.
func TestTheTranscriptInAFile(t *testing.T) {
	s := tell(t, askWrites, three[:1])
	var transcript strings.Builder
	c := assent(t, nil, "demo", "--dir", s.dir)
	c.Stdout = &transcript
	x := start(t, 100, 40, c)
	x.asked("Create notes/a.md", "!agent:")
	x.types("y")
	x.ends(0, "✓ approved: write_file · Create notes/a.md", "!agent:")
	s.has("notes/a.md", "one\n")
	if out := transcript.String(); containsAny(out, "\x1b", "\a", "\r", "┌") || !strings.Contains(out, "✓ write_file: approved") {
		t.Errorf("the file has %q", out)
	}
}

// Somebody who cannot type is nobody: keys from a pipe answer nothing, and what the recorded
// operator was not asked is denied.
// S15 Nobody there.
func TestNobodyThere(t *testing.T) {
	s := tell(t, askWrites, three[:1])
	c := assent(t, nil, "demo", "--dir", s.dir)
	c.Stdin = strings.NewReader(strings.Repeat("y\n", 50))
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "There is no terminal, so a recorded operator answers.") {
		t.Errorf("%v\n%s", err, out)
	}
	s.hasNot("notes/a.md")
}
