package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/config"
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
