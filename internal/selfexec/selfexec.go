// Package selfexec is this program as a helper of itself: the shell inside a sandbox, the file
// tools there, what makes a network for a command, and what tidies up after a program that was
// killed. A program that embeds assent is its own helper in the same way, so it needs no other
// program beside it.
package selfexec

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/sandbox/bwrap"
	"github.com/assent-dev/assent/sandbox/detect"
	"github.com/assent-dev/assent/sandbox/landlock"
	"github.com/assent-dev/assent/sandbox/rpc"
	"github.com/assent-dev/assent/sandbox/stage"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/shell/inside"
)

// statusFailed is the exit status of work that could not be begun.
const statusFailed = 125

// Main does the work of a helper and ends the process, if it was started as one. Otherwise it
// returns at once. It is called before anything else in the program.
func Main() {
	if len(os.Args) < 3 || os.Args[1] != setup.WordInner {
		return
	}
	os.Exit(run(os.Args[2], os.Args[3:]))
}

func run(work string, args []string) int {
	switch work {
	case open.WordShell:
		return inside.Main(args, os.Stderr)
	case detect.WordStage:
		return stage.Main(args)
	}
	if err := begin(work, args); err != nil {
		fmt.Fprintln(os.Stderr, "assent:", err)
		return statusFailed
	}
	return 0
}

func begin(work string, args []string) error {
	switch work {
	case detect.WordServe:
		server := rpc.NewServer()
		detect.Register(server)
		for name, handler := range files.Handlers() {
			server.Handle(name, handler)
		}
		return server.Serve(os.Stdin, os.Stdout)
	case detect.WordSweep:
		return bwrap.Sweep(os.Stdin)
	case detect.WordLandlock:
		return landlock.Apply()
	case setup.WordTry:
		if len(args) != 1 {
			return errors.New("the state folder is missing")
		}
		places, err := setup.Here(args[0])
		if err == nil {
			_, err = open.TrySandbox(context.Background(), places)
		}
		return err
	}
	return fmt.Errorf("there is no work called %q", work)
}
