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
		Long: "assent asks you before an AI agent's tools act: each call is allowed, asked or denied, and every\n" +
			"decision is recorded.\n\n" +
			"To protect an agent that you use already, run 'assent install'. To see what happens, run 'assent demo'.",
		Example:                    "  assent demo\n  assent install\n  assent status\n  assent explain 'git push'",
		Version:                    thisBuild().detail(),
		Args:                       knownCommand,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
	}
	for _, g := range groups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	root.SetCompletionCommandGroupID(groupOther)
	root.SetHelpCommand(helpCmd())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	completionExamples(root)
	strict(root)
	return root
}

// groupOther also has help and completion, which cobra makes.
const groupOther = "Other"

// A group is a heading in the help, with its commands in the order of their names.
type group struct {
	title    string
	commands []*cobra.Command
}

func groups() []group {
	return []group{
		{"Get started", []*cobra.Command{demoCmd(), doctorCmd(), importCmd(), initCmd(), installCmd(), statusCmd(), uninstallCmd(),
			verifyCmd()}},
		{"Answer requests", []*cobra.Command{apiCmd(), approvalsCmd(), approveCmd(), denyCmd(), inboxCmd(), pendingCmd()}},
		{"Rules and policies", []*cobra.Command{checkCmd(), explainCmd(), grantsCmd(), rulesCmd(), schemaCmd(),
			trustCmd()}},
		{"Run agents and tools", []*cobra.Command{callCmd(), chatCmd(), hookCmd(), mcpCmd(), resumeCmd(), runCmd(),
			sandboxCmd()}},
		{"Look back", []*cobra.Command{auditCmd(), undoCmd()}},
		{"Teams", []*cobra.Command{agentsCmd(), bridgeCmd(), gatesCmd(), groupsCmd(), joinCmd(), leaveCmd(), peopleCmd(), policyCmd(), serveCmd()}},
		{groupOther, []*cobra.Command{manualCmd(), webhookCmd(), versionCmd()}},
	}
}

// completionExamples says how each shell loads its completions, and drops that of a shell for
// a system that is not supported.
func completionExamples(root *cobra.Command) {
	load := map[string]string{
		"bash": "  assent completion bash > ~/.local/share/bash-completion/completions/assent",
		"zsh":  "  assent completion zsh > ~/.local/share/zsh/site-functions/_assent   # a folder of your $fpath",
		"fish": "  assent completion fish > ~/.config/fish/completions/assent.fish",
	}
	all, _, err := root.Find([]string{"completion"})
	if err != nil {
		return
	}
	all.Short, all.Example = "Print the completion script for a shell", load["bash"]
	for _, c := range all.Commands() {
		if text, ok := load[c.Name()]; ok {
			c.Short, c.Example = "Print the completion script for "+c.Name(), text
		} else {
			all.RemoveCommand(c)
		}
	}
}

// helpCmd is `assent help [COMMAND]`. Unlike cobra's own it fails on a command that does
// not exist, so that a script notices.
func helpCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Print help for a command",
		GroupID: groupOther,
		Example: "  assent help\n  assent help rules add",
		RunE: func(c *cobra.Command, args []string) error {
			about, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			if err := knownCommand(about, rest); err != nil {
				return err
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}
