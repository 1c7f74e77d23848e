// Command assent-shell runs a judged command inside its sandbox. assent starts it, and talks
// to it over its standard input; it is not for people. It is a program of its own because it
// starts with each command, and a small program starts faster.
package main

import (
	"os"

	"github.com/assent-dev/assent/tool/shell/inside"
)

func main() { os.Exit(inside.Main(os.Args[1:], os.Stderr)) }
