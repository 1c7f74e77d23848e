package terminal_test

import (
	"fmt"
	"os"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/terminal"
	"github.com/assent-dev/assent/tool"
)

// An approver at the controlling terminal, for a program whose standard input is a pipe.
func ExampleNewWith() {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	memory := approval.NewMemory(0)
	asks := terminal.NewWith(terminal.Config{In: tty, Out: tty, Grants: memory})
	gate, err := tool.Guard(approval.Config{Approver: asks, Rules: memory, Grants: memory})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gate.Close()
	asks.Use(gate) // so that a prompt can say what else a lasting answer settles
}
