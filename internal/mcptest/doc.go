// Package mcptest has MCP servers for tests: an ordinary one, made with the SDK, a hostile
// one that does what no server should, one that tries what it is told to, one that
// speaks only the newest version of the protocol, and one with prompts and resources. A test's own
// program is the server: its TestMain calls [Main] first, and [Command] says how to start
// it so.
package mcptest

import (
	"context"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/internal/reexec"
)

// mode is the variable that makes a test program a server.
const mode = "ASSENT_TEST_SERVER"

// The servers.
const (
	Ordinary = "ordinary"
	Hostile  = "hostile"
	Prober   = "prober"
	Newest   = "newest"
	Library  = "library"
)

// Main serves and ends the program, if it was started as a server.
func Main() {
	var err error
	switch os.Getenv(mode) {
	case "":
		return
	case Ordinary:
		err = Serve(context.Background())
	case Hostile:
		err = newHostile(os.Stdin, os.Stdout).serve()
	case Prober:
		err = newProber().Run(context.Background(), &mcp.StdioTransport{})
	case Newest:
		err = newNewest().Run(context.Background(), &mcp.StdioTransport{})
	case Library:
		err = newLibrary().Run(context.Background(), &mcp.StdioTransport{})
	default:
		err = fmt.Errorf("no server %q", os.Getenv(mode))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Command returns how to start this program as a server: its command line and its
// environment.
func Command(server string) (argv []string, env map[string]string) {
	// The race detector would hold every program for a second at its end.
	return []string{reexec.Self()}, map[string]string{mode: server, "GORACE": "atexit_sleep_ms=0"}
}
