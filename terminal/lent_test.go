package terminal

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// What a pager does with Ctrl-C is its own affair, as with less, which stays open.
// S27 Interrupt.
func TestInterrupt_CtrlCInThePagerIsThePagers(t *testing.T) {
	x := run(t, "long", 80, 24, `PAGER=cat >/dev/null; trap 'told=yes; echo the pager was told' INT; echo the pager is open; until [ "$told" ]; do sleep 0.05; done; read line </dev/tty`)
	x.asked("press v")
	x.types("v")
	x.sees("the pager is open")
	x.types("\x03")
	x.sees("the pager was told")
	x.types("\n")
	x.asked("Asks because", "[s] session")
	x.types("y")
	x.ends(0, "long approved")
}

// S27 Interrupt.
func TestInterrupt_CtrlCEndsAPagerAndNotTheRun(t *testing.T) {
	x := run(t, "long", 80, 24, "PAGER=cat >/dev/null; sh -c 'echo the pager is open; exec sleep 600'")
	x.asked("press v")
	x.types("v")
	x.sees("the pager is open")
	x.types("\x03")
	x.asked("The pager was interrupted", "![s] session")
	x.types("y")
	x.ends(0, "long approved")
}

// S27 Interrupt.
func TestInterrupt_CtrlCInTheEditorIsTheEditors(t *testing.T) {
	for _, kind := range []struct{ name, sign, end string }{{"xterm", "your answer?", ""}, {"dumb", "answer>", "\n"}} {
		t.Run(kind.name, func(t *testing.T) {
			x := run(t, "one", 80, 24, "TERM="+kind.name, "EDITOR=sh -c 'echo the editor is open; exec sleep 600'")
			asked := func() bool { return x.asksAgain(kind.sign) }
			x.until("the question", asked)
			x.types("e" + kind.end)
			x.sees("the editor is open")
			x.types("\x03")
			x.sees("the editor failed, so nothing was changed")
			x.until("the question again", asked)
			x.types("n" + kind.end)
			x.ends(0, "one denied")
		})
	}
}

func TestProgramsOfVariables(t *testing.T) {
	w := NewWith(Config{}).newWork(t.Context(), nil)
	for said, want := range map[string]string{
		"printf %s_%s x":           "x_a b",
		"X=1; printf %s_%s \"$X\"": "1_a b",
		"printf '%s %s' y":         "y a b",
	} {
		if out, err := w.program(said, "a b").Output(); err != nil || string(out) != want {
			t.Errorf("%s: %q, %v", said, out, err)
		}
	}
	if cmd := w.program("less  -R"); len(cmd.Args) != 2 || cmd.Args[0] != "less" {
		t.Errorf("a shell stands between: %q", cmd.Args)
	}
}

func TestInterruptedPrograms(t *testing.T) {
	heard := make(chan os.Signal, 1) // what is ignored here would be ignored there
	signal.Notify(heard, syscall.SIGINT)
	defer signal.Stop(heard)
	for script, want := range map[string]bool{"kill -INT $$": true, "exit 130": true, "exit 1": false, "true": false, "kill -TERM $$": false} {
		if err := exec.Command("sh", "-c", script).Run(); interrupted(err) != want {
			t.Errorf("%s: %v", script, err)
		}
	}
}

// Signals of others end the prompt whoever has the terminal.
// S27 Interrupt.
func TestInterrupt_SignalInTheEditor(t *testing.T) {
	x := run(t, "one", 80, 24, "EDITOR=sh -c 'stty -echo; echo the editor is open; exec sleep 2'")
	x.asked("Write notes/one")
	x.types("e")
	x.sees("the editor is open")
	if err := x.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	x.ends(3, "one dismissed", "terminated")
}
