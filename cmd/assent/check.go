package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/check"
	"github.com/assent-dev/assent/internal/config"
)

func checkCmd() *cobra.Command {
	var asJSON bool
	var kind string
	c := &cobra.Command{
		Use:   "check [FILE…]",
		Short: "Find what is wrong with a worker, a policy or a config file",
		Long: "check reports all problems of a file at once: unknown keys, rules that can never apply,\n" +
			"tools that do not exist, examples under expect: that come out otherwise, and what allows\n" +
			"more than it seems to. It runs nothing. It ends with status 1 if it found anything.\n" +
			"Without a file it is about the project's .assent/policy.yaml.",
		Example: "  assent check notes.worker\n  assent check .assent/policy.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				s, err := (&policyFlags{}).resolve(c)
				if err != nil {
					return err
				}
				if err := needPolicy(c, s); err != nil {
					return err
				}
				args = []string{s.File.Path}
			}
			findings := []check.Finding{}
			for _, file := range args {
				found, err := check.File(c.Context(), file, config.Kind(kind))
				if err != nil {
					return err
				}
				findings = append(findings, found...)
			}
			return printFindings(c, findings, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	c.Flags().StringVar(&kind, "as", "", "what the file is: worker, policy or config (default: found out)")
	return c
}

func printFindings(c *cobra.Command, findings []check.Finding, asJSON bool) error {
	if asJSON {
		if err := writeJSON(c.OutOrStdout(), findings); err != nil {
			return err
		}
	} else {
		for _, f := range findings {
			fmt.Fprintln(c.OutOrStdout(), shownText(f.String()))
		}
	}
	if len(findings) == 0 {
		return nil
	}
	if asJSON {
		return statusError{exitFailed, nil}
	}
	word := "findings"
	if len(findings) == 1 {
		word = "finding"
	}
	return statusError{exitFailed, errors.New(fmt.Sprint(len(findings), " ", word))}
}
