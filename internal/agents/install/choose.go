package install

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/assent-dev/assent/internal/agents/settings"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/present"
)

// Choices explain the two policies to who has to choose.
const Choices = `quiet    Commands run in a sandbox that holds them to the project, edits that
         undo covers are free; new hosts, files outside and secrets are asked.
careful  Each change, and each command that does more than read, is asked.
This is for projects without an .assent/policy.yaml; without a working sandbox,
careful applies. To change it: 'assent install --quiet' or '--careful'.
`

// ChoosePolicy writes into the user's config what holds for agents where a project has no policy of
// its own: the word that is given, or what the person chooses.
func (o *Options) ChoosePolicy(ctx context.Context, word string) error {
	places, err := setup.Here(o.State)
	if err != nil {
		return err
	}
	user, err := config.ReadUser(places.Config)
	if err != nil {
		return err
	}
	chosen := user.User.Hook.Policy
	switch {
	case word != "":
		return o.writeChoice(ctx, places, word)
	case chosen != "":
		fmt.Fprintf(o.Out, "Your config.yaml says hook.policy: %s.\n", chosen)
	case o.DryRun:
		return nil
	case o.Choose == nil:
		fmt.Fprintln(o.Out, "The careful policy applies: changes and unknown commands are asked. "+
			"'assent install --quiet' lets them work in a sandbox instead.")
		return nil
	default:
		key, err := o.Choose(Choices)
		if err != nil {
			return err
		}
		if word = map[rune]string{'q': config.HookQuiet, 'c': config.HookCareful}[key]; word == "" {
			fmt.Fprintln(o.Out, "Nothing was chosen, so the careful policy applies.")
			return nil
		}
		return o.writeChoice(ctx, places, word)
	}
	return o.saySandbox(ctx, places, chosen)
}

// writeChoice writes the words into the user's config, which keeps its comments and its layout.
func (o *Options) writeChoice(ctx context.Context, places setup.Places, word string) error {
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
		fmt.Fprintf(o.Out, "Nothing changed in %s: it says hook.policy: %s.\n", present.SafeLine(path), word)
		return o.saySandbox(ctx, places, word)
	}
	showSettings(o.Out, path, before, after)
	if o.DryRun {
		fmt.Fprintln(o.Out, "Nothing was changed.")
		return nil
	}
	if err := settings.Replace(real, after); err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "Wrote %s.\n", present.SafeLine(config.ShortPath(path)))
	return o.saySandbox(ctx, places, word)
}

// saySandbox says what a quiet policy comes to on this machine.
func (o *Options) saySandbox(ctx context.Context, places setup.Places, word string) error {
	if word != config.HookQuiet || o.DryRun {
		return nil
	}
	why, err := open.TrySandbox(ctx, places)
	if err != nil {
		return err
	}
	if why != "" {
		fmt.Fprintf(o.Err, "No sandbox works here: %s. Until one does, the careful policy applies; "+
			"'assent sandbox doctor' says what to do.\n", present.SafeLine(why))
	}
	return nil
}
