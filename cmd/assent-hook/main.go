// Command assent-hook answers the hooks of other agents: it is `assent hook` and nothing
// else. Every package that is linked into a program takes time when it starts, and a hook
// starts before each tool; so this one has no terminal, no highlighting, no MCP and no
// models.
//
// It ends with status 0 and an answer on standard output, or with status 2, which blocks
// the call, and the reason on standard error.
package main

import (
	"os"

	"github.com/assent-dev/assent/internal/agents/hook"
)

func main() {
	os.Exit(hook.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
