package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/settings"
	"github.com/assent-dev/assent/internal/term"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool/shell/runner"
)

// installFlags are those of install and uninstall.
type installFlags struct {
	state, project, policy      string
	dryRun, yes, observe, later bool
	quiet, careful              bool
}

func (f *installFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.state, "state", "", "the state folder (default: assent's own)")
	c.Flags().StringVar(&f.project, "project", "", "the settings of this project, instead of the user's")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change, and change nothing")
	c.Flags().BoolVar(&f.yes, "yes", false, "do it without a question")
	c.MarkFlagsMutuallyExclusive("dry-run", "yes")
}

func installCmd() *cobra.Command {
	var flags installFlags
	c := &cobra.Command{
		Use:   "install [AGENT]",
		Short: "Have another agent ask assent before its tools run",
		Long: "install writes the hook into the agent's settings, with the options that block a call when the\n" +
			"hook fails. It shows what would change and asks. Comments, order and layout stay as they are, and\n" +
			"a backup is kept. Without a name it finds the agents that are there.\n\n" +
			"Then it asks what holds where a project has no policy of its own, and writes that into your\n" +
			"config.yaml: quiet lets agents work in the project, with their commands in a sandbox and their edits\n" +
			"covered by undo, and asks about the rest; careful, the default, asks before they change something\n" +
			"or run what is not known to only read. Scripts say --quiet or --careful.\n\n" +
			"With --policy it also writes .assent/policy.yaml into the project, or the current folder, as\n" +
			"'assent init --hook' does.",
		Example:   "  assent install --dry-run\n  assent install claude-code\n  assent install codex --yes --quiet\n  assent install gemini --observe",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: agentNames(),
		RunE: func(c *cobra.Command, args []string) error {
			if flags.policy != "" {
				if _, err := policyStart(c, flags.policy, true); err != nil {
					return err
				}
			}
			if err := flags.each(c, args, flags.install); err != nil {
				return err
			}
			if err := flags.choose(c); err != nil {
				return err
			}
			return flags.writePolicy(c)
		},
	}
	flags.register(c)
	c.Flags().StringVar(&flags.policy, "policy", "", "also write a policy for the project or the current folder: quiet or careful")
	c.Flags().BoolVar(&flags.quiet, "quiet", false, "where a project has no policy, let agents work in a sandbox; ask about the rest")
	c.Flags().BoolVar(&flags.careful, "careful", false, "where a project has no policy, ask before each change and unknown command")
	c.MarkFlagsMutuallyExclusive("quiet", "careful")
	c.Flags().BoolVar(&flags.observe, "observe", false, "only record what would have happened")
	c.Flags().BoolVar(&flags.later, "defer", false, "have a run of 'claude -p' that must ask end, and go on when it is resumed after the answer")
	c.MarkFlagsMutuallyExclusive("observe", "defer")
	return c
}

func uninstallCmd() *cobra.Command {
	var flags installFlags
	c := &cobra.Command{
		Use:   "uninstall AGENT",
		Short: "Take assent out of another agent's settings",
		Long: "uninstall undoes what install did: the file is what it was, to the byte, with what others wrote\n" +
			"into it since.",
		Args:      cobra.ExactArgs(1),
		ValidArgs: agentNames(),
		RunE:      func(c *cobra.Command, args []string) error { return flags.each(c, args, flags.uninstall) },
	}
	flags.register(c)
	return c
}

// each does something with the settings of the agents that are named, or found.
func (f *installFlags) each(c *cobra.Command, args []string, do func(*cobra.Command, settings.Ledger, settings.Target, string) error) error {
	if runner.Inside() && !f.dryRun {
		return fmt.Errorf("'%s' was started by a tool call: what an agent is asked is for a person to say; run it in your own terminal", c.CommandPath())
	}
	around, err := f.surroundings()
	if err != nil {
		return err
	}
	found, err := f.agentsFor(args, around)
	if err != nil {
		return asUsage(c, err)
	}
	if len(found) == 0 {
		return fmt.Errorf("no agent was found in %s; name one of %v", f.below(around), agentNames())
	}
	state, err := stateFolder(f.state)
	if err != nil {
		return err
	}
	ledger := settings.Ledger(filepath.Join(state, "installs"))
	for _, a := range found {
		t := settings.TargetOf(a)
		if err := do(c, ledger, t, f.path(t, around)); err != nil {
			return err
		}
	}
	warnRepository(c, found...)
	return nil
}

// surroundings are those of agents that are started in the project, or in the current folder.
func (f *installFlags) surroundings() (settings.Surroundings, error) {
	return settings.Here(cmp.Or(f.project, "."))
}

// below is the folder that the settings are in: that of a project, or the home folder.
func (f *installFlags) below(around settings.Surroundings) string {
	if f.project != "" {
		return around.Folder
	}
	return around.Home
}

// path is the file that has the hooks of an agent: of a project, or the user's.
func (f *installFlags) path(t settings.Target, around settings.Surroundings) string {
	if f.project != "" {
		return t.Path(around.Folder)
	}
	return t.UserPath(around)
}

// agentsFor returns the agent that is named, or those that are there.
func (f *installFlags) agentsFor(args []string, around settings.Surroundings) ([]*agents.Agent, error) {
	if len(args) > 0 {
		a, err := agents.Named(args[0])
		return []*agents.Agent{a}, err
	}
	var out []*agents.Agent
	for _, a := range agents.All() {
		if info, err := os.Stat(filepath.Dir(f.path(settings.TargetOf(a), around))); err == nil && info.IsDir() {
			out = append(out, a)
		}
	}
	return out, nil
}

func (f *installFlags) install(c *cobra.Command, l settings.Ledger, t settings.Target, path string) error {
	program, err := hookProgram()
	if err != nil {
		return err
	}
	text, _, err := settings.Read(path)
	if err != nil {
		return err
	}
	if err := f.replaced(l, t, path, text); err != nil {
		return err
	}
	plan, err := t.Add(text, settings.Command(t.Agent, program, f.hookFlags()...))
	if err != nil {
		return fmt.Errorf("%s: %w; mend it and try again, nothing was changed", path, err)
	}
	plan.Before = text
	if !plan.Changes() {
		fmt.Fprintf(c.OutOrStdout(), "Nothing changed in %s: the hook is there already.\n", present.SafeLine(path))
		return f.installed(c, t, path)
	}
	if ok, err := f.agreed(c, path, plan.Before, plan.After); err != nil || !ok {
		return err
	}
	if err := l.Install(t.Agent.Name, path, plan, time.Now()); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "The hook is in %s. As the file was: %s\n", present.SafeLine(path), present.SafeLine(l.Backup(t.Agent.Name, path)))
	return f.installed(c, t, path)
}

// installed says whether the agent calls the hook that is in its settings now.
func (f *installFlags) installed(c *cobra.Command, t settings.Target, path string) error {
	around, err := f.surroundings()
	if err != nil {
		return err
	}
	findings := t.Inspect(around, path)
	if len(findings) == 0 {
		fmt.Fprintf(c.OutOrStdout(), "%s asks assent now; 'assent verify %s' tries it.\n", t.Agent.Title, t.Agent.Name)
		return nil
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s does not ask assent yet, or may not:\n", t.Agent.Title)
	sayFindings(c.ErrOrStderr(), findings)
	return nil
}

// sayFindings prints why an agent may not call its hook.
func sayFindings(w io.Writer, findings []settings.Finding) {
	for _, f := range findings {
		fmt.Fprintf(w, "  %s\n", present.SafeLine(f.String()))
	}
}

// warnRepository says which files of the repository around the current folder turn the hooks
// of an agent off: whoever asks what waits there would wonder why nothing does. Told are agents
// about which that was said already.
func warnRepository(c *cobra.Command, told ...*agents.Agent) {
	around, err := settings.Here(".")
	if err != nil {
		return
	}
	for _, f := range settings.RepositoryOff(around) {
		if !slices.ContainsFunc(told, func(a *agents.Agent) bool { return a.Name == f.Agent }) {
			fmt.Fprintf(c.ErrOrStderr(), "assent: warning: %s\n", present.SafeLine(f.String()))
		}
	}
}

// writePolicy writes the policy that was chosen for the project, where there is none yet.
func (f *installFlags) writePolicy(c *cobra.Command) error {
	if f.dryRun || f.policy == "" {
		return nil
	}
	from, err := policyStart(c, f.policy, true)
	if err != nil {
		return err
	}
	return writeStart(c, from, policyFile(cmp.Or(f.project, ".")))
}

// hookFlags are what the hook is told beside its agent.
func (f *installFlags) hookFlags() (out []string) {
	if f.observe {
		out = append(out, "--observe")
	}
	if f.later {
		out = append(out, "--defer")
	}
	return out
}

// replaced refuses to install beside an installation with another command.
func (f *installFlags) replaced(l settings.Ledger, t settings.Target, path string, text []byte) error {
	r, err := l.Find(t.Agent.Name, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	program, err := hookProgram()
	if err != nil {
		return err
	}
	if plan, err := t.Add(text, settings.Command(t.Agent, program, f.hookFlags()...)); err == nil && !plan.Changes() {
		return nil
	}
	if back, _, err := r.Undone(text); err == nil && string(back) != string(text) {
		return fmt.Errorf("%s has another command of assent's; run 'assent uninstall %s' first", path, t.Agent.Name)
	}
	return nil
}

func (f *installFlags) uninstall(c *cobra.Command, l settings.Ledger, t settings.Target, path string) error {
	r, err := l.Find(t.Agent.Name, path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("assent is not installed in %s", path)
	}
	if err != nil {
		return err
	}
	now, _, err := settings.Read(path)
	if err != nil {
		return err
	}
	text, _, err := r.Undone(now)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if ok, err := f.agreed(c, path, now, text); err != nil || !ok {
		return err
	}
	if err := l.Uninstall(r); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%s asks assent no more.\n", t.Agent.Title)
	return nil
}

// agreed shows what would change, and asks.
func (f *installFlags) agreed(c *cobra.Command, path string, before, after []byte) (bool, error) {
	out := c.OutOrStdout()
	showSettings(out, path, before, after)
	switch {
	case f.dryRun:
		fmt.Fprintln(out, "Nothing was changed.")
		return false, nil
	case f.yes:
		return true, nil
	case !term.IsTerminal(os.Stdin):
		return false, statusError{exitUsage, fmt.Errorf("there is nobody to ask about %s; run this at a terminal, or with --yes", path)}
	}
	key, err := term.AskKey(os.Stdin, out, "Write it?", "yn")
	if err == nil && key != 'y' {
		err = statusError{exitDenied, errors.New("nothing was changed")}
	}
	return err == nil, err
}

func showSettings(w io.Writer, path string, before, after []byte) {
	view := present.DiffView(present.Side{Name: path, Text: string(before)}, present.Side{Name: path, Text: string(after)})
	fmt.Fprintln(w, view.Safe().Content)
}

// hookProgram is the small program beside this one or on the PATH, or else this one.
func hookProgram() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	beside := filepath.Join(filepath.Dir(self), "assent-hook")
	if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
		return []string{beside}, nil
	}
	if path, err := exec.LookPath("assent-hook"); err == nil && filepath.IsAbs(path) {
		return []string{path}, nil
	}
	return []string{self, "hook"}, nil
}
