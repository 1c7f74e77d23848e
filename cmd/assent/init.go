package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/tool/shell/runner"
)

// starts are the files to start from.
//
//go:embed start
var starts embed.FS

func initCmd() *cobra.Command {
	var hook bool
	var worker string
	c := &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Write a policy or a worker to start from",
		Long: "init writes .assent/policy.yaml with comments that say what each line does. It never\n" +
			"overwrites a file. With --hook the policy is for another agent, such as Claude Code, that\n" +
			"asks assent before its tools run; with --worker NAME it is a worker in workers/ instead.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			folder := "."
			if len(args) > 0 {
				folder = args[0]
			}
			from, to := "start/policy.yaml", filepath.Join(folder, config.ProjectFolder, "policy.yaml")
			switch {
			case hook && worker != "":
				return misused(c, "--hook and --worker exclude each other")
			case hook:
				from = "start/hook.yaml"
			case worker != "":
				if !config.ValidWorkerName(worker) {
					return misused(c, "%q is no name of a worker: it has letters, digits, - and _", worker)
				}
				from, to = "start/worker.worker", filepath.Join(folder, "workers", worker+".worker")
			}
			return writeStart(c, from, to)
		},
	}
	c.Flags().BoolVar(&hook, "hook", false, "write a policy for another agent's hooks")
	c.Flags().StringVar(&worker, "worker", "", "write a worker of this name")
	return c
}

func writeStart(c *cobra.Command, from, to string) error {
	if runner.Inside() {
		return errors.New("init is for people: a tool call may not write config")
	}
	data, err := starts.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; it was left alone", to)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "Wrote %s. Change it as you like, then:\n", shownText(to))
	fmt.Fprintf(c.OutOrStdout(), "  assent check %s\n  assent trust %s\n", shownText(to), shownText(to))
	return nil
}
