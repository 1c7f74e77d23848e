package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/starter"
	"github.com/assent-dev/assent/terminal"
	"github.com/assent-dev/assent/tool/shell/runner"
)

func initCmd() *cobra.Command {
	var hook bool
	var worker, policy string
	c := &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Write a policy or a worker to start from",
		Long: "init writes .assent/policy.yaml with comments that explain each line. It never overwrites a file.\n" +
			"With --hook the policy is for another agent, such as Claude Code, that asks assent before its tools\n" +
			"run. With --worker NAME it writes a worker into workers/ instead.\n" +
			"\n" +
			"A careful policy asks before anything is changed or started. A quiet policy lets agents work in the\n" +
			"project inside the operating system's sandbox, and asks about the rest. Without --policy, init asks\n" +
			"which one you want; without a terminal it writes the careful one.",
		Example: "  assent init\n" +
			"  assent init --policy quiet\n" +
			"  assent init --hook --policy careful\n" +
			"  assent init --worker notes",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			folder := "."
			if len(args) > 0 {
				folder = args[0]
			}
			if worker != "" {
				switch {
				case hook || policy != "":
					return misused(c, "--worker goes with neither --hook nor --policy")
				case !config.ValidWorkerName(worker):
					return misused(c, "invalid worker name %q: use letters, digits, - and _", worker)
				}
				return writeStart(c, starter.Worker, filepath.Join(folder, "workers", worker+".worker"))
			}
			to := policyFile(folder)
			_, err := os.Lstat(to)
			asks := policy == "" && terminal.IsTerminal(os.Stdin) && !runner.Inside()
			if asks && errors.Is(err, fs.ErrNotExist) {
				if policy, err = askPolicy(c); err != nil {
					return err
				}
			}
			from, err := policyStart(c, cmp.Or(policy, "careful"), hook)
			if err != nil {
				return err
			}
			return writeStart(c, from, to)
		},
	}
	c.Flags().BoolVar(&hook, "hook", false, "write a policy for another agent's hooks")
	c.Flags().StringVar(&worker, "worker", "", "write a worker of this name")
	c.Flags().StringVar(&policy, "policy", "", "quiet or careful")
	return c
}

func policyFile(folder string) string {
	return filepath.Join(folder, config.ProjectFolder, "policy.yaml")
}

// policyStart is the file that a policy starts from.
func policyStart(c *cobra.Command, policy string, hook bool) (string, error) {
	if name := starter.Policy(policy, hook); name != "" {
		return name, nil
	}
	return "", misused(c, "--policy %q is not known; use quiet or careful", policy)
}

// askPolicy asks which policy to write.
func askPolicy(c *cobra.Command) (string, error) {
	out := c.ErrOrStderr()
	fmt.Fprintln(out, "quiet    agents work in the project; what a sandbox cannot hold is asked")
	fmt.Fprintln(out, "careful  each change and each command that does more than read is asked")
	key, err := terminal.AskKey(os.Stdin, out, "A quiet or a careful policy?", "qc")
	switch {
	case err != nil:
		return "", err
	case key == 'q':
		return "quiet", nil
	case key == 'c':
		return "careful", nil
	}
	return "", statusError{exitDenied, errors.New("no policy was chosen; nothing was written")}
}

func writeStart(c *cobra.Command, from, to string) error {
	if runner.Inside() {
		return errors.New("init is for people: a tool call may not write config")
	}
	if err := starter.Write(from, to); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "Wrote %s. Change it as you like, then:\n", shownText(to))
	fmt.Fprintf(c.OutOrStdout(), "  assent check %s\n  assent trust %s\n", shownText(to), shownText(to))
	return nil
}
