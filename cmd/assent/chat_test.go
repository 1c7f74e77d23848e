package main

import "testing"

// echoes is a worker that says what it was told.
var echoes = map[string]string{"echo.worker": "---\nmodel: script:turns.yaml\n---\nYou repeat.\n", "turns.yaml": `turns:
  - {say: "It said <${message}>.", listen: true}
  - {say: "It said <${message}>.", listen: true}
  - {say: "It said <${message}>.", listen: true}
`}

// A chat greets, lets a person edit the line and brings back what was sent.
func TestChat_LineEditing(t *testing.T) {
	p := newProject(t, echoes)
	x := p.at("chat", "echo.worker")
	x.sees("Chat with echo.", "/help lists the commands", "you:")
	x.types("/help\r")
	x.sees("/quit end the chat", "clears the line. you:")
	x.types("/nonsense\r")
	x.sees("Unknown command /nonsense. /help lists the commands. you:")
	x.types("wrld\x1b[D\x1b[D\x1b[Do\x01hello \r") // left, left, left, o; Ctrl-A
	x.sees("It said <hello world>. you:")
	x.types("\x1b[A!\r") // up
	x.sees("It said <hello world!>. you:")
	x.types("not sent\x03") // Ctrl-C clears the line
	x.types("\x1b[A\x1b[A\x1b[B?\r")
	x.sees("It said <hello world!?>. you:", "!not sent")
	x.types("\x04")
	x.ends(0)
}

// Ctrl-C at an empty line asks once, and another key stays.
func TestChat_CtrlCAsksOnce(t *testing.T) {
	for _, leave := range []string{"\x03", "y"} {
		t.Run(leave, func(t *testing.T) {
			p := newProject(t, echoes)
			x := p.at("chat", "echo.worker")
			x.sees("you:")
			x.types("\x03")
			x.sees("Leave the chat? Press Ctrl-C again or y")
			x.types("h")
			x.sees("you: h", "!Leave the chat?")
			x.types("i\r")
			x.sees("It said <hi>. you:")
			x.types("\x03")
			x.sees("Leave the chat?")
			x.types(leave)
			x.ends(0)
		})
	}
}
