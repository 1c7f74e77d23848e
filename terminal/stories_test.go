package terminal

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// S01 Pause and S02 Approve.
func TestPauseAndApprove(t *testing.T) {
	x := run(t, "diff", 80, 30)
	x.asked("earlier output", "write_file · main › helper", "Edit notes/report.md", "Asks because: notes asks for writes (policy.yaml:7)", "+## Executive Summary")
	if x.screen.Title != "● assent asks: write_file" || x.screen.Bells == 0 {
		t.Errorf("title %q, %d bells", x.screen.Title, x.screen.Bells)
	}
	x.types("y")
	x.ends(0, "diff approved")
	x.sees("earlier output\n✓ approved: write_file · Edit notes/report.md", "later output", "!┌─")
	if raw := x.raw.String(); !strings.Contains(raw, pushTitle) || !strings.Contains(raw, popTitle) {
		t.Error("the title was not kept and put back")
	}
}

// S03 Deny with words.
func TestDenyWithWords(t *testing.T) {
	x := run(t, "diff two", 80, 30)
	x.asked("1 of 2")
	x.types("N")
	x.sees("a note to the model?")
	x.types("too early\r")
	x.sees("Deny for how long?")
	x.types("o")
	x.asked("2 of 2", "✗ denied: write_file")
	x.types("y")
	x.ends(0, `diff denied note="too early"`, "two approved")
}

// S03 Deny with words.
func TestDenyWithWords_Stop(t *testing.T) {
	x := run(t, "one two", 80, 30)
	x.asked("1 of 2")
	x.types("q")
	x.sees("Deny and stop the run")
	x.types("enough\r")
	x.ends(3, `one denied note="enough"`, `two denied note="the person stopped the run"`, "stopped at a prompt: write_file (Write notes/one): enough")
}

// S05 For this session.
func TestForThisSession(t *testing.T) {
	x := run(t, "one two", 100, 30)
	x.asked("1 of 2")
	x.types("s")
	x.sees("Approve for this session", "▸ 1 exactly this")
	x.types("2")
	x.asked("▸ 2 this folder", "This also answers 1 other request", "Write notes/two")
	x.types("y")
	x.ends(0, "one approved", "two session-approved")
	x.sees("✓ approved for this session: write_file · Write notes/one", "by grant allow write_file(notes/**)")
}

// S18 Commands.
func TestCommands(t *testing.T) {
	for _, columns := range []uint16{40, 80, 200} {
		x := run(t, "parts", columns, 60)
		x.until("the command, highlighted", func() bool {
			highlighted := strings.Contains(x.raw.String(), "\x1b[35mcd") || strings.Contains(x.raw.String(), "\x1b[35;22mcd")
			return highlighted && x.asksAgain("your answer?") &&
				strings.Contains(x.screen.Flat(), `$ cd src && make test && cp a.txt /etc/b\u{202e} && sh -c "$CODE" Working directory: .`)
		})
		for _, want := range []string{"As the model wrote it:", "✓ shell(cd src) free: preset readonly", "? write_file(/etc/b\\u{202e}) asks: outside every root",
			"? shell(sh -c '$CODE') in src asks: its code cannot be read, so only a person may answer"} {
			if !strings.Contains(x.screen.Flat(), want) {
				t.Errorf("%d columns: the screen does not say %q:\n%s", columns, want, x.screen)
			}
		}
		x.types("n")
		x.ends(0, "parts denied")
	}
}

// S19 Large content.
func TestLargeContent_Pager(t *testing.T) {
	x := run(t, "long", 80, 24)
	x.asked("rows 1–", "press v")
	x.types("v")
	x.sees("line 19 of many")
	x.types("q")
	x.asked("Asks because", "[s] session")
	x.types("y")
	x.ends(0, "long approved")
}

// S19 Large content.
func TestLargeContent_OwnPager(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	x := run(t, "text", 80, 24, "PAGER=cat >"+seen)
	x.asked()
	x.types("v")
	x.sees("wait: the keys")
	x.asked("notify")
	x.types("n")
	x.ends(0, "text denied")
	data, err := os.ReadFile(seen)
	if err != nil || strings.ContainsAny(string(data), "\x1b\u202e") {
		t.Errorf("the pager got %q, %v", data, err)
	}
}

// S20 Edit before approving.
func TestEditBeforeApproving(t *testing.T) {
	dir := t.TempDir()
	editor := filepath.Join(dir, "editor")
	script := "#!/bin/sh\nstat -c %a \"$1\" > " + dir + "/mode\ncat \"$1\" > " + dir + "/before\nprintf edited > \"$1\"\n"
	if err := os.WriteFile(editor, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	x := run(t, "one", 80, 24, "VISUAL="+editor)
	x.asked("Write notes/one")
	x.types("e")
	x.asked("✎ changed, asking again", "Write notes/one")
	x.types("y")
	x.ends(0, "one approved")
	mode, _ := os.ReadFile(dir + "/mode")
	before, _ := os.ReadFile(dir + "/before")
	if string(mode) != "600\n" || string(before) != "text of one" {
		t.Errorf("the editor had %q with mode %q", before, mode)
	}
}

// S21 Always.
func TestAlways_OnATerminal(t *testing.T) {
	x := run(t, "bash", 80, 30)
	x.asked()
	x.types("a")
	x.sees("allow shell(= bash x.sh)")
	x.types("2")
	x.asked("allow shell(bash)")
	x.types("y")
	x.sees("Type yes to save it all the same")
	x.types("yes\r")
	x.ends(0, "bash approved")
}

// S22 Batches.
func TestBatches(t *testing.T) {
	x := run(t, "one two three", 80, 30)
	x.asked("1 of 3")
	x.types("\t")
	x.asked("2 of 3", "Write notes/two")
	x.types("A")
	x.asked("Approve 2 requests", "Write notes/three (was not on screen in full)")
	x.types("y")
	x.asked("3 of 3", "1 request left open")
	x.types("n")
	x.ends(0, "one approved", "two approved", "three denied")
}

// S23 Why.
func TestWhy_OnATerminal(t *testing.T) {
	x := run(t, "diff", 80, 30)
	x.asked()
	x.types("?")
	x.sees("Why it asks", "no rule and no grant covers it", "allow write_file(notes/**)")
	x.types("\x1b")
	x.asked("Edit notes/report.md")
	x.types("y")
	x.ends(0, "diff approved")
}

// S24 No stolen keys.
func TestNoStolenKeys(t *testing.T) {
	x := run(t, "one", 80, 30)
	x.types("yyyy\r\r") // before anything is on the screen
	x.sees("wait: the keys work in a moment")
	x.types("y\ry")
	x.asked("Write notes/one")
	x.types("\r\r z")
	x.types("n")
	x.ends(0, "one denied")
}

// S25 Nothing hidden.
func TestNothingHidden(t *testing.T) {
	x := run(t, "text", 80, 30)
	x.asked(`\u{202e}evil\u{202c}`, `\x1b[31mred`, "構建完成")
	x.types("y")
	x.ends(0, "text approved")
	if strings.ContainsAny(x.raw.String(), "\u202e\u202c") {
		t.Error("a bidi control reached the terminal")
	}
}

// S27 Interrupt.
func TestInterrupt_CtrlC(t *testing.T) {
	x := run(t, "one two", 80, 30)
	x.asked()
	x.types("\x03")
	x.ends(3, "one dismissed", "two dismissed", "the prompt was interrupted: Ctrl-C")
}

// S27 Interrupt.
func TestInterrupt_EndOfInput(t *testing.T) {
	x := run(t, "one", 80, 30)
	x.asked()
	x.types("\x04")
	x.ends(3, "one dismissed", "end of input")
}

// S27 Interrupt.
func TestInterrupt_ClosedTerminal(t *testing.T) {
	x := run(t, "one", 80, 30)
	x.asked()
	x.hangUp()
	select {
	case <-x.done:
	case <-time.After(patience):
		t.Fatal("the child does not end")
	}
	if out := x.stdout.String(); !strings.Contains(out, "one dismissed") || !strings.Contains(out, "the prompt was interrupted") {
		t.Errorf("standard output: %s", out)
	}
}

// S27 Interrupt.
func TestInterrupt_Signals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		x := run(t, "one", 80, 30)
		x.asked()
		if err := x.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		x.ends(3, "one dismissed", s.String())
	}
}

func TestAnsweredElsewhereClosesThePrompt(t *testing.T) {
	x := run(t, "one two", 80, 30)
	x.asked("1 of 2")
	if err := x.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	x.asked("✗ denied by bob (inbox): write_file · Write notes/one — from elsewhere", "Write notes/two")
	x.types("y")
	x.ends(0, "one denied", "two approved")
}

func TestResizeWhileOpen(t *testing.T) {
	x := run(t, "command", 100, 40)
	x.asked(`echo "a rather long message`)
	x.screen.Resize(44)
	x.resize(44, 40)
	if err := x.cmd.Process.Signal(syscall.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	x.asked("┌─ shell · main › helper ──────────────────┐")
	x.types("y")
	x.ends(0, "command approved")
}

func TestNoColour(t *testing.T) {
	x := run(t, "diff", 80, 30, "NO_COLOR=1")
	x.asked()
	x.types("y")
	x.ends(0, "diff approved")
	for _, colour := range []string{"\x1b[31m", "\x1b[32m", "\x1b[36m", ";36m", ";31m", ";32m"} {
		if strings.Contains(x.raw.String(), colour) {
			t.Errorf("colour %q was sent", colour)
		}
	}
}

func TestDumbTerminal(t *testing.T) {
	x := run(t, "diff two three", 80, 30, "TERM=dumb")
	x.types("y\n") // too early
	x.sees("1 of 3", "\nanswer>")
	x.types("\nmaybe\nYES\n")
	x.sees("Enter alone answers nothing.", "No such key here: maybe.")
	x.sees("✓ approved: write_file · Edit notes/report.md", "2 of 3")
	x.until("a second question", func() bool { return strings.HasSuffix(strings.TrimRight(x.screen.String(), "\n"), "answer>") })
	x.types("N\n")
	x.sees("a note to the model?")
	x.types("not this one\n")
	x.sees("Deny for how long?")
	x.types("o\n")
	x.sees("3 of 3")
	x.until("a third question", func() bool { return strings.HasSuffix(strings.TrimRight(x.screen.String(), "\n"), "answer>") })
	x.types("\x04")
	x.ends(3, "diff approved", `two denied note="not this one"`, "three dismissed", "end of input")
	if strings.ContainsAny(x.raw.String(), "\x1b\a") {
		t.Errorf("an escape was sent: %q", x.raw.String())
	}
}
