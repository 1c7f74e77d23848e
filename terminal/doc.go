// Package terminal is the approver at a terminal. It shows what a call would do, asks,
// and answers; it knows no tool.
//
// Two ideas carry the package.
//
// The core is pure. A state takes events (a key, a size, a view that was built) and
// gives the next state and effects (resolve this, open the pager); a state and a width
// give the rows to draw. Nothing in it reads a clock or a terminal. Around it stand two
// thin shells: one with bubbletea, and one that prints and reads lines, for a dumb
// terminal and for output that is none.
//
// Every yes ends with a key that says yes. Enter, an unknown key, a paste, the end of
// input and keys typed before the prompt could be read never approve, and what is kept
// for longer is not offered before the whole view could be seen.
//
//	memory := approval.NewMemory(0)
//	asker := terminal.NewWith(terminal.Config{Grants: memory})
//	gate, err := approval.New(approval.Config{Approver: asker, Grants: memory, …})
//	asker.Use(gate) // so that the prompt can say what else a lasting answer settles
//
// An inbox is a list of the requests of other processes first; see [Approver.Attend]. A [Composer]
// reads the messages of a chat.
//
// All that is drawn went through present.Safe and is cut and wrapped by width, so the
// only control characters that reach the terminal are newlines and the styles made here.
package terminal
