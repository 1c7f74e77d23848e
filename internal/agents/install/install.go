package install

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/settings"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/present"
)

// Options say whose settings are changed, and who is asked about it.
type Options struct {
	State   string // the state folder; empty for assent's own
	Project string // the settings of this project, instead of the user's
	DryRun  bool   // show what would change, and change nothing
	Observe bool   // have the hook only record what would have happened
	Defer   bool   // have a run of 'claude -p' that must ask end
	// Confirm asks about the change of a file that was shown; an error is a no.
	Confirm func(path string) error
	// Choose asks which policy holds where a project has none: q, c, or neither. Nil means
	// that nobody can be asked.
	Choose   func(explanation string) (rune, error)
	Out, Err io.Writer
}

// AgentNames are the names of the agents that there are.
func AgentNames() []string {
	var out []string
	for _, a := range agents.All() {
		out = append(out, a.Name)
	}
	return out
}

// Install writes the hook into the settings of the agents.
func (o *Options) Install(found []*agents.Agent) error { return o.each(found, o.install) }

// Uninstall takes the hook out of the settings of the agents.
func (o *Options) Uninstall(found []*agents.Agent) error { return o.each(found, o.uninstall) }

// each does something with the settings of the agents that are named, or found.
func (o *Options) each(found []*agents.Agent, do func(settings.Ledger, settings.Target, string) error) error {
	around, err := o.surroundings()
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("no agent was found in %s; name one of %v", o.below(around), AgentNames())
	}
	state, err := config.StateFolder(o.State)
	if err != nil {
		return err
	}
	ledger := settings.Ledger(filepath.Join(state, "installs"))
	for _, a := range found {
		t := settings.TargetOf(a)
		if err := do(ledger, t, o.path(t, around)); err != nil {
			return err
		}
	}
	WarnRepository(o.Err, found...)
	return nil
}

// surroundings are those of agents that are started in the project, or in the current folder.
func (o *Options) surroundings() (settings.Surroundings, error) {
	return settings.Here(cmp.Or(o.Project, "."))
}

// below is the folder that the settings are in: that of a project, or the home folder.
func (o *Options) below(around settings.Surroundings) string {
	if o.Project != "" {
		return around.Folder
	}
	return around.Home
}

// path is the file that has the hooks of an agent: of a project, or the user's.
func (o *Options) path(t settings.Target, around settings.Surroundings) string {
	if o.Project != "" {
		return t.Path(around.Folder)
	}
	return t.UserPath(around)
}

// Agents returns the agent that is named, or those that are there.
func (o *Options) Agents(args []string) ([]*agents.Agent, error) {
	if len(args) > 0 {
		a, err := agents.Named(args[0])
		if err == nil && a.Name != args[0] {
			fmt.Fprintf(o.Err, "read as: %s\n", a.Name)
		}
		return []*agents.Agent{a}, err
	}
	around, err := o.surroundings()
	if err != nil {
		return nil, err
	}
	var out []*agents.Agent
	for _, a := range agents.All() {
		if info, err := os.Stat(filepath.Dir(o.path(settings.TargetOf(a), around))); err == nil && info.IsDir() {
			out = append(out, a)
		}
	}
	return out, nil
}

func (o *Options) install(l settings.Ledger, t settings.Target, path string) error {
	program, err := hookProgram()
	if err != nil {
		return err
	}
	text, _, err := settings.Read(path)
	if err != nil {
		return err
	}
	plan, err := t.Add(text, settings.Command(t.Agent, program, o.hookFlags()...))
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed. Correct the file and try again", path, err)
	}
	plan.Before = text
	if !plan.Changes() {
		fmt.Fprintf(o.Out, "Nothing to change in %s: the hook is already there.\n", present.SafeLine(path))
		return o.installed(t, path)
	}
	if err := replaces(l, t, path, text); err != nil {
		return err
	}
	if ok, err := o.agreed(path, plan.Before, plan.After); err != nil || !ok {
		return err
	}
	if err := l.Install(t.Agent.Name, path, plan, time.Now()); err != nil {
		return err
	}
	backup := l.Backup(t.Agent.Name, path)
	fmt.Fprintf(o.Out, "Wrote the hook to %s.\nThe file as it was: %s\n", present.SafeLine(config.ShortPath(path)),
		present.SafeLine(config.ShortPath(backup)))
	return o.installed(t, path)
}

// installed says whether the agent calls the hook that is in its settings now.
func (o *Options) installed(t settings.Target, path string) error {
	around, err := o.surroundings()
	if err != nil {
		return err
	}
	findings := t.Inspect(around, path)
	if len(findings) == 0 {
		fmt.Fprintf(o.Out, "%s now asks assent; test it with 'assent verify %s'.\n", t.Agent.Title, t.Agent.Name)
		return nil
	}
	fmt.Fprintf(o.Err, "%s does not ask assent yet, or it is uncertain:\n", t.Agent.Title)
	sayFindings(o.Err, findings)
	return nil
}

// SayNext says in three lines what happens next.
func (o *Options) SayNext(found []*agents.Agent) {
	if o.DryRun || len(found) == 0 {
		return
	}
	first := found[0]
	where := "Work as usual. Questions appear in an open 'assent inbox' or in the agent."
	if len(found) == 1 && first.CanAsk() {
		where = "Work as usual. Questions appear in an open 'assent inbox' or in " + first.Title + "."
	} else if len(found) == 1 {
		where = "Keep 'assent inbox' open: without it " + first.Title + " is denied what needs approval."
	}
	fmt.Fprintf(o.Out, "\nWhat happens next:\n  %s\n", where)
	fmt.Fprintln(o.Out, "  'assent status' shows what is on, 'assent rules list' your rules.")
	fmt.Fprintf(o.Out, "  'assent uninstall %s' puts the settings back as they were.\n", first.Name)
}

// sayFindings prints why an agent may not call its hook.
func sayFindings(w io.Writer, findings []settings.Finding) {
	for _, f := range findings {
		fmt.Fprintf(w, "  %s\n", present.SafeLine(f.String()))
	}
}

// WarnRepository says which files of the repository around the current folder turn the hooks
// of an agent off: whoever asks what waits there would wonder why nothing does. About the agents
// in said that was said already.
func WarnRepository(w io.Writer, said ...*agents.Agent) {
	around, err := settings.Here(".")
	if err != nil {
		return
	}
	for _, f := range settings.RepositoryOff(around) {
		if !slices.ContainsFunc(said, func(a *agents.Agent) bool { return a.Name == f.Agent }) {
			fmt.Fprintf(w, "assent: warning: %s\n", present.SafeLine(f.String()))
		}
	}
}

// hookFlags are what the hook is told beside its agent.
func (o *Options) hookFlags() (out []string) {
	if o.Observe {
		out = append(out, "--observe")
	}
	if o.Defer {
		out = append(out, "--defer")
	}
	return out
}

// replaces refuses to install beside an installation with another command.
func replaces(l settings.Ledger, t settings.Target, path string, text []byte) error {
	r, err := l.Find(t.Agent.Name, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if back, _, err := r.Undone(text); err == nil && string(back) != string(text) {
		return fmt.Errorf("%s has another command of assent's; run 'assent uninstall %s' first", path, t.Agent.Name)
	}
	return nil
}

func (o *Options) uninstall(l settings.Ledger, t settings.Target, path string) error {
	r, err := l.Find(t.Agent.Name, path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("assent is not installed in %s", path)
	}
	if err != nil {
		return err
	}
	now, _, err := settings.Read(path)
	if err != nil {
		return err
	}
	text, _, err := r.Undone(now)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if ok, err := o.agreed(path, now, text); err != nil || !ok {
		return err
	}
	if err := l.Uninstall(r); err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "%s no longer asks assent.\n", t.Agent.Title)
	return nil
}

// agreed shows what would change, and asks.
func (o *Options) agreed(path string, before, after []byte) (bool, error) {
	showSettings(o.Out, path, before, after)
	if o.DryRun {
		fmt.Fprintln(o.Out, "Nothing was changed.")
		return false, nil
	}
	err := o.Confirm(path)
	return err == nil, err
}

func showSettings(w io.Writer, path string, before, after []byte) {
	old, new := present.Side{Name: path, Text: string(before)}, present.Side{Name: path, Text: string(after)}
	view := present.DiffView(old, new)
	fmt.Fprintln(w, view.Safe().Content)
}

// hookProgram is the small program beside this one or on the PATH, or else this one.
func hookProgram() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	beside := filepath.Join(filepath.Dir(self), "assent-hook")
	if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
		return []string{beside}, nil
	}
	if path, err := exec.LookPath("assent-hook"); err == nil && filepath.IsAbs(path) {
		return []string{path}, nil
	}
	return []string{self, "hook"}, nil
}
