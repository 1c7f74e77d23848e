package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/explain/doors"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/detect"
)

func sandboxCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "sandbox",
		Short: "Show, check and use the operating system's sandbox",
		Long: "The sandbox limits what a command can reach at all, whoever allowed the command. It is derived from\n" +
			"the roots of the policy.",
		Example: "  assent sandbox doctor\n" +
			"  assent sandbox show\n" +
			"  assent sandbox run -- npm test",
	}
	c.AddCommand(sandboxShowCmd(), sandboxRunCmd(), sandboxDoctorCmd())
	return c
}

// statusError ends the program with a status of its own.
type statusError struct {
	status int
	error  // nil if there is nothing to say
}

func (e statusError) Error() string {
	if e.error == nil {
		return ""
	}
	return e.error.Error()
}

func (e statusError) Unwrap() error { return e.error }

func sandboxShowCmd() *cobra.Command {
	var flags policyFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "show [-c POLICY] [-- COMMAND]",
		Short: "Show what commands may reach, and which line of config says so",
		Long: "show prints what the policy lets commands reach. With a command, it also prints the limits that the\n" +
			"command itself would run under: what it was read to do, and no more.",
		Example: "  assent sandbox show\n" +
			"  assent sandbox show -c policy.yaml -- npm test",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := flags.resolve(c)
			if err != nil {
				return err
			}
			base, err := open.Open(c.Context(), s, open.Order{Use: open.Look, Held: len(args) > 0})
			if err != nil {
				return err
			}
			defer base.Close()
			if err := needPolicy(c, base.Setup); err != nil {
				return err
			}
			view, err := base.ProfileView()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if view.Held, err = base.HeldTo(c.Context(), doors.CommandText(args)); err != nil {
					return err
				}
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), view)
			}
			return view.Print(c.OutOrStdout())
		},
	}
	flags.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

type sandboxRunFlags struct {
	policyFlags
	command runs.Sandboxed
}

func sandboxRunCmd() *cobra.Command {
	var flags sandboxRunFlags
	c := &cobra.Command{
		Use:   "run [-c POLICY] -- COMMAND [ARGS...]",
		Short: "Run a command in the sandbox of a policy",
		Long: "run starts the command in this folder, under the profile that 'assent sandbox show' prints, and exits\n" +
			"with its exit status; 125 if the sandbox or the policy failed, 4 if the policy requires a sandbox and\n" +
			"there is none. A project's policy that is not named with -c must be trusted; see 'assent trust'.\n" +
			"\n" +
			"Nobody is asked unless --ask is given. Then each connection that the command makes is judged by the\n" +
			"name of its host with the policy's list, rules and grants; hosts that no rule allows are asked at the\n" +
			"terminal and in the inbox, and recorded.",
		Example: "  assent sandbox run -- npm test\n" +
			"  assent sandbox run --ask --timeout 5m -- npm install",
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			err := flags.run(c, args)
			var own statusError // the command's own, or a status that says more than a failure
			if err == nil || errors.As(err, &own) || exitStatus(err) != exitFailed {
				return err
			}
			return statusError{exitSandboxFailed, err}
		},
	}
	c.Flags().SetInterspersed(false)
	flags.register(c)
	c.Flags().BoolVar(&flags.command.Ask, "ask", false, "ask about hosts that the command connects to")
	c.Flags().DurationVar(&flags.command.Timeout, "timeout", 0, "end the command after this time")
	return c
}

func (f *sandboxRunFlags) run(c *cobra.Command, argv []string) error {
	s, err := f.resolve(c)
	if err != nil {
		return err
	}
	if err := needPolicy(c, s); err != nil {
		return err
	}
	if s.Untrusted {
		// Whoever wrote the project wrote it, and it says what a command may reach.
		return fmt.Errorf("nothing was run: %s is not trusted; 'assent trust' shows what it would allow and asks, "+
			"or name it with -c", s.File.Path)
	}
	if err := undecided(s, argv); err != nil {
		return err
	}
	f.command.Argv, f.command.Out, f.command.Err = argv, c.OutOrStdout(), c.ErrOrStderr()
	exit, err := f.command.Run(c.Context(), s)
	if err != nil {
		return err
	}
	return ended(c.ErrOrStderr(), exit)
}

// undecided reports why the command is not run here, where nobody is asked: it says in plain words what people of the team
// decide about.
func undecided(s *setup.Setup, argv []string) error {
	for _, act := range toolbox.Starts(argv, s.Dir, os.Environ()) {
		if s.Decided(policy.Call{Tool: policy.ActShell, Project: s.Scope}, act) {
			return fmt.Errorf("nothing was run: people of the team decide about %s; 'assent call shell' asks them", act)
		}
	}
	return nil
}

// ended turns the end of a command into that of this program.
func ended(w io.Writer, exit sandbox.Exit) error {
	if exit.Ended != "" {
		fmt.Fprintf(w, "assent: the command %s\n", exit.Ended)
	}
	if exit.Left != "" {
		fmt.Fprintf(w, "assent: ended with the command: %s\n", exit.Left)
	}
	if exit.Code == 0 {
		return nil
	}
	return statusError{status: exit.Code}
}

func sandboxDoctorCmd() *cobra.Command {
	var policy, state string
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor [-c POLICY]",
		Short: "Check which sandbox works here, and what to do if none does",
		Long: "doctor tries each sandbox the way commands would use it, with attempts that must fail: writing and\n" +
			"reading outside the project, connecting, mounting, changing kernel settings. It exits with status 4 if\n" +
			"no sandbox works.",
		Example: "  assent sandbox doctor\n" +
			"  assent sandbox doctor -c policy.yaml\n" +
			"  assent sandbox doctor --json",
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
		fmt.Fprintf(w, ": cannot be used\n  cause:  %s\n  remedy: %s\n", present.SafeLine(p.Cause),
			present.SafeLine(p.Remedy))
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
