package trust

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/present"
)

// Files returns the files that can be trusted at a path.
func Files(path string) ([]string, error) {
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
		project := filepath.Join(config.ProjectFolder, "policy.yaml")
		return nil, fmt.Errorf("there is neither a %s nor a worker in %s", project, path)
	}
	return out, nil
}

// ErrDeclined says that the answer was not yes.
var ErrDeclined = errors.New("it is not trusted; it can only forbid")

// Ask keeps a yes to a file under a name. Confirm asks; show prints what a yes would mean, and an
// error is a no.
func Ask(ctx context.Context, store Store, out io.Writer, f *config.File, by string,
	confirm func(show func()) error) error {
	bundle, state, changes, err := standing(ctx, store, f)
	if err != nil {
		return err
	}
	if state == Trusted {
		fmt.Fprintf(out, "%s is trusted.\n", printable(bundle.Path))
		return nil
	}
	if err := confirm(func() { show(out, f, bundle, changes) }); err != nil {
		return err
	}
	if err := store.Put(ctx, Record{Path: bundle.Path, Parts: bundle.Parts, At: time.Now(), By: by}); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s is now trusted.\n", printable(bundle.Path))
	return nil
}

// printable is text of others as it may be printed, with tabs as spaces.
func printable(text string) string { return strings.ReplaceAll(present.Safe(text), "\t", "    ") }

// show prints what a yes would mean.
func show(w io.Writer, f *config.File, b Bundle, changes []Change) {
	for _, change := range changes {
		fmt.Fprintf(w, "%s since you trusted it: %s\n", change.What, present.SafeLine(change.Path))
		if change.Diff != "" {
			fmt.Fprintln(w, printable(change.Diff))
		}
	}
	promises := Promises(f)
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

// Print lists what is trusted, and whether it still is what was trusted.
func (f Folder) Print(ctx context.Context, out io.Writer) error {
	records, err := f.List(ctx)
	if err != nil {
		return err
	}
	if len(records) == 0 {
		fmt.Fprintln(out, "Nothing is trusted.")
	}
	for _, r := range records {
		fmt.Fprintf(out, "%s  %s  %s\n", r.At.Local().Format(time.DateTime), r.standing(), present.SafeLine(r.Path))
	}
	return nil
}

// standing says whether a record still fits what it is about.
func (r Record) standing() string {
	f, err := config.Read(r.Path, "")
	if err != nil {
		return "unreadable"
	}
	b, err := Of(f)
	if err != nil {
		return "unreadable"
	}
	if state, _ := Compare(b, r, true); state != Trusted {
		return "changed   "
	}
	return "trusted   "
}
