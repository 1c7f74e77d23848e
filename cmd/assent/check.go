package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/check"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup"
)

func checkCmd() *cobra.Command {
	var asJSON bool
	var kind string
	c := &cobra.Command{
		Use:   "check [FILE…]",
		Short: "Check a worker, policy or config file for mistakes",
		Long: "check reports all mistakes in how a file is written in one go, such as unknown keys. In a file without\n" +
			"such mistakes it finds rules that can never apply, tools that do not exist, two names for one folder\n" +
			"with different approvals, examples under expect: that turn out differently, settings that allow more\n" +
			"than they seem to, and anything that would keep a run from starting. It runs nothing, and exits with\n" +
			"status 1 if it finds a problem. Without a file it checks the project's .assent/policy.yaml.",
		Example: "  assent check\n" +
			"  assent check notes.worker\n" +
			"  assent check .assent/policy.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			order, err := setup.OrderHere("", "")
			if err != nil {
				return err
			}
			below, reserved, setting, err := setup.Checked(order.Places)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				found, err := config.FindProject(order.Dir)
				if err != nil {
					return err
				}
				if found == "" {
					return noPolicy(c)
				}
				args = []string{found}
			}
			findings := []check.Finding{}
			var errs []error
			for _, file := range args {
				found, err := check.File(c.Context(), file, config.Kind(kind), below, setting, reserved...)
				if err != nil { // the other files are checked all the same
					errs = append(errs, err)
					continue
				}
				findings = append(findings, found...)
				if !asJSON {
					printFindings(c.OutOrStdout(), file, found)
				}
			}
			if asJSON {
				if err := writeJSON(c.OutOrStdout(), findings); err != nil {
					return err
				}
			}
			if len(errs) > 0 {
				return errors.Join(errs...)
			}
			return foundSomething(len(findings), asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	c.Flags().StringVar(&kind, "as", "", "the kind of file: worker, policy or config (default: detected)")
	return c
}

func printFindings(w io.Writer, file string, findings []check.Finding) {
	for _, f := range findings {
		fmt.Fprintln(w, shownText(f.String()))
	}
	if len(findings) == 0 {
		fmt.Fprintln(w, shownText(file)+": no problems found")
	}
}

// foundSomething ends the program with status 1 if there are findings. A program that reads
// JSON can count them itself.
func foundSomething(n int, asJSON bool) error {
	switch {
	case n == 0:
		return nil
	case asJSON:
		return statusError{exitFailed, nil}
	case n == 1:
		return statusError{exitFailed, errors.New("1 finding")}
	}
	return statusError{exitFailed, fmt.Errorf("%d findings", n)}
}
