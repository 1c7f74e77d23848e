package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/detect"
)

func sandboxDoctorCmd() *cobra.Command {
	var policy, state string
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor [-c POLICY]",
		Short: "Say which sandbox can be used here, what it holds, and what to do if none can",
		Long: "doctor tries each sandbox as commands would use it, with attempts that must fail: writing and\n" +
			"reading outside, connecting, mounting, changing the kernel's settings. It ends with status 4\n" +
			"if none can be used.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			profile := sandbox.Profile{Limits: sandbox.DefaultLimits()}
			if policy != "" {
				base, err := (&policyFlags{policy, state}).look(c)
				if err != nil {
					return err
				}
				defer base.Close()
				derived, err := base.CommandProfile(false)
				if err != nil {
					return err
				}
				profile = derived.Profile
			}
			found, err := open.Detect(c.Context(), profile)
			if err != nil && !errors.As(err, new(*sandbox.UnusableError)) {
				return err
			}
			if err := printReports(c.OutOrStdout(), found, asJSON); err != nil {
				return err
			}
			if err != nil {
				return statusError{exitNoSandbox, errors.New("no usable OS sandbox was found")}
			}
			return found.Close()
		},
	}
	c.Flags().StringVarP(&policy, "config", "c", "", "a policy file, to try its profile")
	c.Flags().StringVar(&state, "state", "", "the state folder (default: assent's own)")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func printReports(w io.Writer, found detect.Found, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{"uses": found.Report.Name, "sandboxes": found.Reports})
	}
	if found.Runner != nil {
		fmt.Fprintf(w, "Commands run in: %s\n", found.Report.Name)
	} else {
		fmt.Fprintln(w, "Commands run in: no sandbox")
	}
	for _, r := range found.Reports {
		printReport(w, r)
	}
	return nil
}

func printReport(w io.Writer, r sandbox.Report) {
	fmt.Fprintf(w, "\n%s", r.Name)
	for _, detail := range []string{r.Path, r.Version} {
		if detail != "" {
			fmt.Fprintf(w, " %s", present.SafeLine(detail))
		}
	}
	if r.Weaker {
		fmt.Fprint(w, " (weaker)")
	}
	if p := r.Problem; p != nil {
		fmt.Fprintf(w, ": cannot be used\n  cause:  %s\n  remedy: %s\n", present.SafeLine(p.Cause), present.SafeLine(p.Remedy))
		if p.Detail != "" {
			fmt.Fprintf(w, "  it said: %s\n", present.SafeLine(p.Detail))
		}
		return
	}
	fmt.Fprint(w, ": works\n  enforced:\n")
	for _, e := range r.Enforced {
		fmt.Fprintf(w, "    - %s\n", e)
	}
	fmt.Fprint(w, "  not enforced:\n")
	for _, e := range r.NotEnforced {
		fmt.Fprintf(w, "    - %s\n", e)
	}
}
