package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/trust"
)

// policyFlags name the policy and the state of a command that looks at them.
type policyFlags struct{ config, state string }

func (f *policyFlags) register(c *cobra.Command) {
	c.Flags().StringVarP(&f.config, "config", "c", "", "the policy file (default: the project's, and your own config)")
	c.Flags().StringVar(&f.state, "state", "", "the state folder (default: assent's own)")
}

// resolve finds what holds in this folder, for who asks nobody. It says of a policy that was
// found and that nobody has trusted that it can only forbid.
func (f *policyFlags) resolve(c *cobra.Command) (*setup.Setup, error) {
	order, err := setup.OrderHere(f.config, f.state)
	if err != nil {
		return nil, err
	}
	s, err := setup.Resolve(c.Context(), order)
	if err == nil && s.Untrusted {
		sayUntrusted(c, s.File)
	}
	return s, err
}

// look opens what holds in this folder, to say what would happen.
func (f *policyFlags) look(c *cobra.Command) (*open.Base, error) {
	s, err := f.resolve(c)
	if err != nil {
		return nil, err
	}
	return open.Open(c.Context(), s, open.Order{Use: open.Look})
}

func sayUntrusted(c *cobra.Command, file *config.File) {
	fmt.Fprintf(c.ErrOrStderr(), "assent: %s is not trusted, so it can only forbid; see 'assent trust %s'\n", shownText(file.Path), shownText(file.Path))
}

// needPolicy refuses a folder without a policy.
func needPolicy(c *cobra.Command, s *setup.Setup) error {
	if s.File != nil {
		return nil
	}
	return noPolicy(c)
}

func noPolicy(c *cobra.Command) error {
	return misused(c, "there is no %s here or above; name a policy, or write one with 'assent init'", filepath.Join(config.ProjectFolder, "policy.yaml"))
}

// trustingAt asks a person at the terminal about a file that is not trusted as it is; where
// nobody can be asked it can only forbid.
func trustingAt(c *cobra.Command, places setup.Places, looking bool) func(context.Context, *config.File) (bool, error) {
	return func(_ context.Context, file *config.File) (bool, error) {
		switch {
		case looking:
			return false, nil
		case personHere():
			return true, askTrust(c, trust.Folder(places.TrustFolder()), file, false) // anything but a yes is an error
		}
		sayUntrusted(c, file)
		return false, nil
	}
}

// resolveFor is [setup.Resolve] for a command line.
func resolveFor(c *cobra.Command, order setup.Order) (*setup.Setup, error) {
	s, err := setup.Resolve(c.Context(), order)
	var set *setup.SetError
	if errors.As(err, &set) {
		return nil, misused(c, "%v", set)
	}
	if err != nil {
		return nil, err
	}
	for _, ignored := range s.Ignored {
		fmt.Fprintf(c.ErrOrStderr(), "assent: not trusted, so left out: %s\n", shownText(ignored))
	}
	return s, nil
}
