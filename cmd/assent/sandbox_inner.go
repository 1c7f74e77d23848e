package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/sandbox/bwrap"
	"github.com/assent-dev/assent/sandbox/detect"
	"github.com/assent-dev/assent/sandbox/landlock"
	"github.com/assent-dev/assent/sandbox/netns"
	"github.com/assent-dev/assent/sandbox/rpc"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/shell/inside"
)

// sandboxInnerCmd is this program as a helper of itself. It is not for people.
func sandboxInnerCmd() *cobra.Command {
	c := &cobra.Command{
		Use:    "inner WORK",
		Short:  "Work for another assent, inside or beside its sandbox",
		Hidden: true,
		Args:   cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch args[0] {
			case detect.WordServe:
				server := rpc.NewServer()
				detect.Register(server)
				for name, handler := range files.Handlers() {
					server.Handle(name, handler)
				}
				return server.Serve(os.Stdin, os.Stdout)
			case open.WordShell:
				os.Exit(inside.Main(args[1:], os.Stderr))
			case setup.WordTry:
				if len(args) != 2 {
					return usageError{what: "the state folder is missing", help: "assent sandbox --help"}
				}
				places, err := setup.Here(args[1])
				if err == nil {
					_, err = open.TrySandbox(c.Context(), places)
				}
				return err
			case detect.WordStage:
				os.Exit(netns.Main(args[1:]))
			case detect.WordSweep:
				return bwrap.Sweep(os.Stdin)
			case detect.WordLandlock:
				return statusError{exitSandboxFailed, landlock.Apply()}
			}
			return usageError{what: fmt.Sprintf("there is no work called %q", args[0]), help: "assent sandbox --help"}
		},
	}
	c.Flags().SetInterspersed(false) // what follows may be another program's
	return c
}
