package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/install"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/terminal"
)

// installFlags are those of install and uninstall.
type installFlags struct {
	options             install.Options
	policy              string
	yes, quiet, careful bool
	// imports and leaves say whether the permission lists become rules; neither asks.
	imports, leaves bool
}

func (f *installFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.options.State, "state", "", "the state folder (default: assent's own)")
	c.Flags().Var((*notEmpty)(&f.options.Project), "project", "use the settings of this project instead of the user's")
	c.Flags().BoolVar(&f.options.DryRun, "dry-run", false, "show what would change, but change nothing")
	c.Flags().BoolVar(&f.yes, "yes", false, "do not ask for confirmation")
	c.MarkFlagsMutuallyExclusive("dry-run", "yes")
}

func installCmd() *cobra.Command {
	var flags installFlags
	c := &cobra.Command{
		Use:   "install [AGENT]",
		Short: "Make another agent ask assent before its tools run",
		Long: "install writes assent's hook into the agent's settings, with the options that block a call when the\n" +
			"hook fails. It shows what would change and asks first. Comments, order and layout stay as they are,\n" +
			"and a backup is kept. Without a name it finds the agents that are installed.\n" +
			"\n" +
			"Then it asks which policy to use where a project has none of its own, and writes that into your\n" +
			"config.yaml. quiet lets agents work in the project, with their commands in a sandbox and their edits\n" +
			"covered by undo, and asks about the rest. careful, the default, asks before they change something or\n" +
			"run a command that is not known to only read. In scripts, pass --quiet or --careful.\n" +
			"\n" +
			"Then it offers to turn the agent's own permission lists into rules, as 'assent import' does. In scripts,\n" +
			"pass --import or --no-import.\n" +
			"\n" +
			"With --policy it also writes .assent/policy.yaml into the project or the current folder, as\n" +
			"'assent init --hook' does.",
		Example: "  assent install --dry-run\n  assent install claude-code\n  assent install codex --yes --quiet\n" +
			"  assent install gemini --observe",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: install.AgentNames(),
		RunE: func(c *cobra.Command, args []string) error {
			if flags.policy != "" {
				if _, err := policyStart(c, flags.policy, true); err != nil {
					return err
				}
			}
			o, found, err := flags.prepare(c, args)
			if err != nil {
				return err
			}
			if err := o.Install(found); err != nil {
				return err
			}
			if err := o.ChoosePolicy(c.Context(), flags.word()); err != nil {
				return err
			}
			if err := flags.writePolicy(c); err != nil {
				return err
			}
			if err := flags.offerImport(c, found); err != nil {
				return err
			}
			o.SayNext(found)
			return nil
		},
	}
	flags.register(c)
	c.Flags().StringVar(&flags.policy, "policy", "",
		"also write a policy for the project or the current folder: quiet or careful")
	c.Flags().BoolVar(&flags.quiet, "quiet", false,
		"where a project has no policy, let agents work in a sandbox; ask about the rest")
	c.Flags().BoolVar(&flags.careful, "careful", false,
		"where a project has no policy, ask before each change and unknown command")
	c.MarkFlagsMutuallyExclusive("quiet", "careful")
	c.Flags().BoolVar(&flags.imports, "import", false, "turn the agent's permission lists into rules without a question")
	c.Flags().BoolVar(&flags.leaves, "no-import", false, "leave the agent's permission lists alone")
	c.MarkFlagsMutuallyExclusive("import", "no-import")
	c.Flags().BoolVar(&flags.options.Observe, "observe", false, "only record what would have happened")
	c.Flags().BoolVar(&flags.options.Defer, "defer", false,
		"have a run of 'claude -p' that must ask end, and go on when it is resumed after the answer")
	c.MarkFlagsMutuallyExclusive("observe", "defer")
	return c
}

func uninstallCmd() *cobra.Command {
	var flags installFlags
	c := &cobra.Command{
		Use:   "uninstall AGENT",
		Short: "Remove assent from another agent's settings",
		Long: "uninstall undoes what install did. The settings file is restored byte for byte, except for what others\n" +
			"wrote into it since.",
		Example: "  assent uninstall claude-code\n" +
			"  assent uninstall codex --dry-run",
		Args:      cobra.ExactArgs(1),
		ValidArgs: install.AgentNames(),
		RunE: func(c *cobra.Command, args []string) error {
			o, found, err := flags.prepare(c, args)
			if err != nil {
				return err
			}
			return o.Uninstall(found)
		},
	}
	flags.register(c)
	return c
}

// prepare returns what the flags say, and the agents that are named or found.
func (f *installFlags) prepare(c *cobra.Command, args []string) (*install.Options, []*agents.Agent, error) {
	if !f.options.DryRun {
		if err := byPerson(c); err != nil {
			return nil, nil, err
		}
	}
	o := &f.options
	o.Out, o.Err = c.OutOrStdout(), c.ErrOrStderr()
	o.Confirm = func(path string) error { return f.confirm(o.Out, path) }
	if !f.yes && terminal.IsTerminal(os.Stdin) {
		o.Choose = func(explanation string) (rune, error) {
			fmt.Fprint(o.Err, explanation)
			return terminal.AskKey(os.Stdin, o.Err, "Quiet or careful?", "qc")
		}
	}
	found, err := o.Agents(args)
	return o, found, asUsage(c, err)
}

// confirm asks at the terminal about a file; what is no yes is an error.
func (f *installFlags) confirm(out io.Writer, path string) error {
	switch {
	case f.yes:
		return nil
	case !terminal.IsTerminal(os.Stdin):
		err := fmt.Errorf("no terminal to ask about %s; run this at a terminal, or with --yes", path)
		return statusError{exitUsage, err}
	}
	key, err := terminal.AskKey(os.Stdin, out, "Write it?", "yn")
	if err == nil && key != 'y' {
		err = statusError{exitDenied, errors.New("nothing was changed")}
	}
	return err
}

// word is what the flags say.
func (f *installFlags) word() string {
	switch {
	case f.quiet:
		return config.HookQuiet
	case f.careful:
		return config.HookCareful
	}
	return ""
}

// offerImport has the permission lists of the agents become rules: with a flag, or if the person says yes.
func (f *installFlags) offerImport(c *cobra.Command, found []*agents.Agent) error {
	o := &f.options
	if f.leaves {
		return nil
	}
	in := importFlags{storeFlags: storeFlags{state: o.State}, yes: f.imports, dryRun: o.DryRun}
	var names []string
	for _, a := range found {
		names = append(names, a.Name)
	}
	im, err := in.lists(c, names, cmp.Or(o.Project, "."))
	if err != nil {
		return err
	}
	if im.Count(install.ImportAdd, install.ImportShared, install.ImportWide) == 0 && len(im.Problems) == 0 {
		return nil
	}
	if !f.imports && (o.DryRun || f.yes || !terminal.IsTerminal(os.Stdin)) {
		fmt.Fprintf(o.Out, "Its permission lists can become rules: %s\nSee 'assent import --dry-run', or say --import.\n", im.Summary())
		return nil
	}
	return in.run(c, names, cmp.Or(o.Project, "."))
}

// writePolicy writes the policy that was chosen for the project, where there is none yet.
func (f *installFlags) writePolicy(c *cobra.Command) error {
	if f.options.DryRun || f.policy == "" {
		return nil
	}
	from, err := policyStart(c, f.policy, true)
	if err != nil {
		return err
	}
	return writeStart(c, from, policyFile(cmp.Or(f.options.Project, ".")))
}

func verifyCmd() *cobra.Command {
	var project string
	c := &cobra.Command{
		Use:   "verify [AGENT]",
		Short: "Check that the hooks of other agents work",
		Long: "verify starts the hook that each agent's settings name, as the agent would, and sends it three calls in\n" +
			"a temporary folder: one that must be allowed, one that must be asked and one that must be denied.\n" +
			"Nothing is executed, no model is used and nothing is recorded.\n" +
			"\n" +
			"It also reads the settings that the agent would read in this folder, including those of the\n" +
			"administrator and the repository, and looks for anything that keeps the agent from calling the hook. If\n" +
			"it finds something, it says what to do, reports the agent as not proven, and exits with status 1. It\n" +
			"cannot see the agent's command-line flags.",
		Example: "  assent verify\n" +
			"  assent verify claude-code",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: install.AgentNames(),
		RunE: func(c *cobra.Command, args []string) error {
			o := install.Options{Project: project, Out: c.OutOrStdout(), Err: c.ErrOrStderr()}
			found, err := o.Agents(args)
			if err != nil {
				return asUsage(c, err)
			}
			ok, err := o.Verify(c.Context(), found)
			if err == nil && !ok {
				err = statusError{exitFailed, nil}
			}
			return err
		},
	}
	c.Flags().Var((*notEmpty)(&project), "project", "use the settings of this project instead of the user's")
	return c
}
