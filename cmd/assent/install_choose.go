package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/agents/settings"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/term"
	"github.com/assent-dev/assent/present"
)

// choices explain the two policies to who has to choose.
const choices = `quiet    Commands run in a sandbox that holds them to the project; edits that undo covers are free.
         New hosts, files outside the project and secrets are asked; denies deny.
careful  Each change, and each command that does more than read, is asked.
This is for projects without an .assent/policy.yaml. Without a working sandbox, careful holds.
Change it at any time: hook.policy in config.yaml, or 'assent install --quiet' or '--careful'.
`

// choose has the person choose what holds for agents where a project has no policy of its own, and
// writes it into the user's config.
func (f *installFlags) choose(c *cobra.Command) error {
	places, err := setup.Here(f.state)
	if err != nil {
		return err
	}
	user, err := config.ReadUser(places.Config)
	if err != nil {
		return err
	}
	word, chosen := f.word(), user.User.Hook.Policy
	switch {
	case word != "":
		return f.writeChoice(c, places, word)
	case chosen != "":
		fmt.Fprintf(c.OutOrStdout(), "Your config.yaml says hook.policy: %s.\n", chosen)
	case f.dryRun:
		return nil
	case f.yes || !term.IsTerminal(os.Stdin):
		fmt.Fprintln(c.OutOrStdout(), "Agents are careful: changes and unknown commands ask. 'assent install --quiet' lets them work in a sandbox instead.")
		return nil
	default:
		fmt.Fprint(c.ErrOrStderr(), choices)
		key, err := term.AskKey(os.Stdin, c.ErrOrStderr(), "Quiet or careful?", "qc")
		if err != nil {
			return err
		}
		if word = map[rune]string{'q': config.HookQuiet, 'c': config.HookCareful}[key]; word == "" {
			fmt.Fprintln(c.OutOrStdout(), "Nothing was chosen, so agents are careful.")
			return nil
		}
		return f.writeChoice(c, places, word)
	}
	return f.saySandbox(c, places, chosen)
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

// writeChoice writes the words into the user's config, which keeps its comments and its layout.
func (f *installFlags) writeChoice(c *cobra.Command, places setup.Places, word string) error {
	path := filepath.Join(places.Config, config.UserName)
	before, real, err := settings.Read(path)
	if err != nil {
		return err
	}
	shell := config.HookJudge
	if word == config.HookQuiet {
		shell = config.HookStage
	}
	after, err := config.SetHook(path, before, shell, word)
	if err != nil {
		return err
	}
	if string(after) == string(before) {
		fmt.Fprintf(c.OutOrStdout(), "Nothing changed in %s: it says hook.policy: %s.\n", present.SafeLine(path), word)
		return f.saySandbox(c, places, word)
	}
	showSettings(c.OutOrStdout(), path, before, after)
	if f.dryRun {
		fmt.Fprintln(c.OutOrStdout(), "Nothing was changed.")
		return nil
	}
	if err := settings.Replace(real, after); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "Wrote %s.\n", present.SafeLine(path))
	return f.saySandbox(c, places, word)
}

// saySandbox says what a quiet policy comes to on this machine.
func (f *installFlags) saySandbox(c *cobra.Command, places setup.Places, word string) error {
	if word != config.HookQuiet || f.dryRun {
		return nil
	}
	why, err := open.TrySandbox(c.Context(), places)
	if err != nil {
		return err
	}
	if why != "" {
		fmt.Fprintf(c.ErrOrStderr(), "No sandbox holds here: %s. Until one does, agents are careful; 'assent sandbox doctor' says what to do.\n", present.SafeLine(why))
	}
	return nil
}
