// Command assent-shell runs a judged command inside its sandbox. assent starts it, and talks
// to it over its standard input; it is not for people. It is a program of its own because it
// starts with each command, and a small program starts faster. So does what cleans up after an
// assent that was killed, which is this program with the word sweep, and what makes a network
// for a command, which is this program with the word stage.
package main

import (
	"fmt"
	"os"

	"github.com/assent-dev/assent/sandbox/bwrap"
	"github.com/assent-dev/assent/sandbox/stage"
	"github.com/assent-dev/assent/tool/shell/inside"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "sweep" {
		if err := bwrap.Sweep(os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, "assent:", err)
			os.Exit(inside.StatusFailed)
		}
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "stage" {
		os.Exit(stage.Main(os.Args[2:]))
	}
	os.Exit(inside.Main(os.Args[1:], os.Stderr))
}
