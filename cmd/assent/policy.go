package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/trust"
)

// policyOr returns the file that was named, or else the policy of the project that the
// current folder belongs to.
func policyOr(c *cobra.Command, named string) (string, error) {
	if named != "" {
		return named, nil
	}
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	found, err := config.FindProject(cwd)
	if err != nil {
		return "", err
	}
	if found == "" {
		file := filepath.Join(config.ProjectFolder, "policy.yaml")
		return "", misused(c, "there is no %s here or above; name a policy, or write one with 'assent init'", file)
	}
	return found, nil
}

// needTrust refuses a policy that was found and that nobody has trusted as it is: whoever
// wrote the project wrote it, and it says what a command may reach.
func needTrust(ctx context.Context, file, state string) error {
	if trusted, err := isTrusted(ctx, file, state); err != nil || trusted {
		return err
	}
	return fmt.Errorf("nothing was run: %s is not trusted; 'assent trust' shows what it would allow and asks, or name it with -c", file)
}

// policyToShow is policyOr for what runs nothing. It says of a policy that was found and that
// nobody has trusted that runs and hooks do not take its word for everything.
func policyToShow(c *cobra.Command, named, state string) (string, error) {
	file, err := policyOr(c, named)
	if err != nil || named != "" {
		return file, err
	}
	trusted, err := isTrusted(c.Context(), file, state)
	if err == nil && !trusted {
		fmt.Fprintf(c.ErrOrStderr(), "assent: %s is not trusted: until it is, runs and hooks only let it forbid; see 'assent trust'\n", shownText(file))
	}
	return file, err
}

func isTrusted(ctx context.Context, file, state string) (bool, error) {
	known, err := trustFolder(state)
	if err != nil {
		return false, err
	}
	read, err := config.Read(file, "")
	if err != nil {
		return false, err
	}
	standing, err := standingOf(ctx, known, read)
	return standing == trust.Trusted, err
}

// readPolicy reads a policy file that the operator named; the administrator's word holds
// besides it. The model is told which line of it decided, and no path of this machine, so
// the file goes by its own name.
func readPolicy(file string) (*config.Policy, error) {
	f, err := config.Read(file, "")
	if err != nil {
		return nil, err
	}
	c, err := config.Places{Admin: config.AdminFile, Resolve: resolveExisting}.Operator(f)
	if err != nil {
		return nil, err
	}
	return c.Policy, nil
}
