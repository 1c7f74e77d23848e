package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/internal/trust"
	"github.com/assent-dev/assent/terminal"
	"github.com/assent-dev/assent/tool/shell/runner"
)

type trustFlags struct {
	state             string
	yes, list, remove bool
}

func trustCmd() *cobra.Command {
	var flags trustFlags
	c := &cobra.Command{
		Use:   "trust [FILE|FOLDER]",
		Short: "Trust a project's worker or policy",
		Long: "A worker or policy that comes with a project can only deny until you trust it. trust shows what the\n" +
			"file would allow and asks. Your yes covers the file as it is now, and every program and script that it\n" +
			"names: when one of them changes, you are asked again and shown what changed.\n" +
			"\n" +
			"For a folder it covers .assent/policy.yaml and the workers in workers/.",
		Example: "  assent trust\n" +
			"  assent trust .assent/policy.yaml\n" +
			"  assent trust --list",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if runner.Inside() {
				return errors.New("trust is for people: a tool call may not use it")
			}
			path := "."
			if len(args) > 0 {
				path = args[0]
			}
			store, err := trustFolder(flags.state)
			if err != nil {
				return err
			}
			switch {
			case flags.list:
				return store.Print(c.Context(), c.OutOrStdout())
			case flags.remove:
				return removeTrust(c, store, path)
			}
			return trustAll(c, store, path, flags.yes)
		},
	}
	c.Flags().StringVar(&flags.state, "state", "", "the state folder (default: assent's own)")
	c.Flags().BoolVar(&flags.yes, "yes", false, "do not ask for confirmation")
	c.Flags().BoolVar(&flags.list, "list", false, "list what is trusted")
	c.Flags().BoolVar(&flags.remove, "remove", false, "stop trusting the file")
	c.MarkFlagsMutuallyExclusive("yes", "list", "remove")
	return c
}

// trustFolder is where a state folder keeps what is trusted.
func trustFolder(state string) (trust.Folder, error) {
	dir, err := stateFolder(state)
	return trust.Folder(filepath.Join(dir, "trust")), err
}

// trustAll asks about each file that the path means.
func trustAll(c *cobra.Command, store trust.Folder, path string, yes bool) error {
	files, err := trust.Files(path)
	if err != nil {
		return err
	}
	for _, file := range files {
		f, err := config.Read(file, "")
		if err != nil {
			return err
		}
		if err := askTrust(c, store, f, yes); err != nil {
			return err
		}
	}
	return nil
}

// askTrust shows what a file would allow, asks unless the answer is known, and keeps a yes.
func askTrust(c *cobra.Command, store trust.Store, f *config.File, yes bool) error {
	return trust.Ask(c.Context(), store, c.OutOrStdout(), f, runs.Whoami().User, func(show func()) error {
		if !yes && terminal.Person() == nil {
			return statusError{exitUsage, fmt.Errorf("there is nobody to ask about %s; run this at a terminal, "+
				"or with --yes once you have read the file", f.Path)}
		}
		if show(); yes {
			return nil
		}
		key, err := terminal.AskKey(terminal.Person(), c.OutOrStdout(), "Trust it?", "yn")
		if err == nil && key != 'y' {
			err = statusError{exitDenied, trust.ErrDeclined}
		}
		return err
	})
}

func removeTrust(c *cobra.Command, store trust.Folder, path string) error {
	path, err := filepath.Abs(path) // the file may be gone
	if err != nil {
		return err
	}
	gone, err := store.Remove(c.Context(), path)
	if err != nil {
		return err
	}
	if !gone {
		return fmt.Errorf("%s was not trusted; see 'assent trust --list'", path)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s is no longer trusted.\n", shownText(path))
	return nil
}
