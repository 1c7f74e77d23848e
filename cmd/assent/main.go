// Command assent puts a person's consent between an LLM agent and what its tools would do.
//
// Exit status: 0 when the command did what was asked, 1 when it failed, 2 when the
// command line was wrong, 3 when a denial stopped the run, 4 when a sandbox is required and
// there is none, 5 when the run waits for answers, 130 when it was interrupted. Results go to
// standard output, everything else to standard error.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/selfexec"
)

func main() {
	selfexec.Main()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	root := rootCmd()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	ctx, stop := untilSignal(context.Background())
	defer stop()
	err := root.ExecuteContext(ctx)
	if err != nil && err.Error() != "" {
		// It may name what a model chose.
		fmt.Fprintf(stderr, "assent: %s\n", shownText(err.Error()))
	}
	return exitStatus(err)
}

// rootCmd wires the commands together.
func rootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:   "assent",
		Short: "Ask a person before an agent's tools act",
		Long: "assent puts a person's consent between an LLM agent and what its tools would do:\n" +
			"each call is free, asked or refused, and every answer is written down.",
		Args:                       knownCommand,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
	}
	root.AddCommand(approvalsCmd(), approveCmd(), auditCmd(), callCmd(), chatCmd(), checkCmd(), demoCmd(), denyCmd(),
		explainCmd(), grantsCmd(), hookCmd(), importCmd(), inboxCmd(), initCmd(), installCmd(), mcpCmd(), pendingCmd(),
		resumeCmd(), rulesCmd(), runCmd(), sandboxCmd(), schemaCmd(), statusCmd(), trustCmd(), undoCmd(), uninstallCmd(),
		verifyCmd(), versionCmd())
	root.SetHelpCommand(helpCmd())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	strict(root)
	return root
}

// helpCmd is `assent help [COMMAND]`. Unlike cobra's own it fails on a command that does
// not exist, so that a script notices.
func helpCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Print help for a command",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			if err := knownCommand(about, rest); err != nil {
				return err
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}
