package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/internal/term"
	"github.com/assent-dev/assent/internal/trust"
	"github.com/assent-dev/assent/present"
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
		Short: "Let a project's worker or policy allow what it says",
		Long: "A worker or policy that comes with a project can only forbid until you trust it. trust shows\n" +
			"what the file would allow and asks. Your yes is for the file as it is, and for every program\n" +
			"and script that it names: when one of them changes you are asked again, and shown what changed.\n\n" +
			"For a folder it is about .assent/policy.yaml and the workers in workers/.",
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
				return listTrust(c, store)
			case flags.remove:
				return removeTrust(c, store, path)
			}
			return trustAll(c, store, path, flags.yes)
		},
	}
	c.Flags().StringVar(&flags.state, "state", "", "the state folder (default: assent's own)")
	c.Flags().BoolVar(&flags.yes, "yes", false, "trust without a question")
	c.Flags().BoolVar(&flags.list, "list", false, "list what is trusted")
	c.Flags().BoolVar(&flags.remove, "remove", false, "trust the file no longer")
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
	files, err := trustable(path)
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

// trustable returns the files that can be trusted at a path.
func trustable(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var out []string
	policy := filepath.Join(path, config.ProjectFolder, "policy.yaml")
	if _, err := os.Stat(policy); err == nil {
		out = append(out, policy)
	}
	workers := filepath.Join(path, "workers")
	for _, name := range config.ListWorkers(workers) {
		file, err := config.FindNamed(name, workers)
		if err != nil {
			return nil, err
		}
		out = append(out, file)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("there is neither a %s nor a worker in %s", filepath.Join(config.ProjectFolder, "policy.yaml"), path)
	}
	return out, nil
}

// errNotTrusted says that the answer was not yes.
var errNotTrusted = errors.New("it is not trusted; it can only forbid")

// askTrust shows what a file would allow, asks unless the answer is known, and keeps a yes.
func askTrust(c *cobra.Command, store trust.Store, f *config.File, yes bool) error {
	bundle, err := trust.Of(f)
	if err != nil {
		return err
	}
	record, known, err := store.Get(c.Context(), bundle.Path)
	if err != nil {
		return err
	}
	state, changes := trust.Compare(bundle, record, known)
	out := c.OutOrStdout()
	if state == trust.Trusted {
		fmt.Fprintf(out, "%s is trusted as it is.\n", shownText(bundle.Path))
		return nil
	}
	if !yes && term.Person() == nil {
		return statusError{exitUsage, fmt.Errorf("there is nobody to ask about %s; run this at a terminal, or with --yes once you have read the file", f.Path)}
	}
	showTrust(out, f, bundle, changes)
	if !yes {
		key, err := term.AskKey(term.Person(), out, "Trust it?", "yn")
		if err != nil {
			return err
		}
		if key != 'y' {
			return statusError{exitDenied, errNotTrusted}
		}
	}
	if err := store.Put(c.Context(), trust.Record{Path: bundle.Path, Parts: bundle.Parts, At: time.Now(), By: runs.Whoami().User}); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s is trusted as it is now.\n", shownText(bundle.Path))
	return nil
}

// showTrust prints what a yes would mean.
func showTrust(w io.Writer, f *config.File, b trust.Bundle, changes []trust.Change) {
	for _, change := range changes {
		fmt.Fprintf(w, "%s since you trusted it: %s\n", change.What, present.SafeLine(change.Path))
		if change.Diff != "" {
			fmt.Fprintln(w, shownText(change.Diff))
		}
	}
	promises := trust.Promises(f)
	if len(promises) == 0 {
		fmt.Fprintf(w, "%s allows nothing by itself.\n", present.SafeLine(b.Path))
		return
	}
	fmt.Fprintf(w, "%s would allow:\n", present.SafeLine(b.Path))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range promises {
		fmt.Fprintf(t, "  %s\t%s\n", p.What, present.SafeLine(p.Text))
	}
	for _, part := range b.Parts[1:] {
		fmt.Fprintf(t, "  bound to\t%s\n", present.SafeLine(part.Path))
	}
	t.Flush() // the writer's own errors show up at its next use
}

func listTrust(c *cobra.Command, store trust.Folder) error {
	records, err := store.List(c.Context())
	if err != nil {
		return err
	}
	if len(records) == 0 {
		fmt.Fprintln(c.OutOrStdout(), "Nothing is trusted.")
	}
	for _, r := range records {
		fmt.Fprintf(c.OutOrStdout(), "%s  %s  %s\n", r.At.Local().Format("2006-01-02 15:04:05"), standing(r), present.SafeLine(r.Path))
	}
	return nil
}

// standing says whether a record still fits what it is about.
func standing(r trust.Record) string {
	f, err := config.Read(r.Path, "")
	if err != nil {
		return "unreadable"
	}
	b, err := trust.Of(f)
	if err != nil {
		return "unreadable"
	}
	if state, _ := trust.Compare(b, r, true); state != trust.Trusted {
		return "changed   "
	}
	return "trusted   "
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
