package terminal

import "testing"

func TestPanicInAView(t *testing.T) {
	x := run(t, "panics two", 100, 24)
	x.asked("What it would do cannot be shown: building the view panicked: the view is broken", "![y] approve once")
	x.types("y") // not offered
	x.types("n")
	x.asked("Write notes/two")
	x.types("y")
	x.ends(0, "panics denied", "two approved")
	x.clean()
}

func TestPanicInAnUpdate(t *testing.T) {
	x := run(t, "one two", 80, 24, panicEnv+"=update")
	x.asked("Write notes/one")
	x.types("v")
	x.sees("the environment is broken")
	x.ends(3, "one dismissed", "two dismissed", "the prompt was interrupted")
	x.clean()
}

func TestPanicInACommand(t *testing.T) {
	for name, sign := range map[string]string{"xterm": "your answer?", "dumb": "answer>"} {
		x := run(t, "one", 80, 24, "TERM="+name, panicEnv+"=command")
		x.until("the question", func() bool { return x.asksAgain(sign) })
		x.types("s\n") // asks what else the answer settles
		x.ends(3, "one dismissed", "the prompt was interrupted: it panicked: the gate is broken")
		x.clean()
	}
}

// clean wants that nothing is left switched on at the terminal.
func (x *terminal) clean() {
	x.t.Helper()
	if !x.screen.Clean() {
		x.t.Errorf("left switched on: modes %v, %d keyboard modes", x.screen.Modes, x.screen.Keyboards)
	}
}
