package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/override"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/internal/trust"
	pinned "github.com/assent-dev/assent/tool/command"
)

// prepared is a worker that was found, read and looked at. Nothing has happened yet.
type prepared struct {
	cfg     *config.Configuration
	places  config.Places
	state   string
	cwd     string
	base    []config.Tier // of -c, instead of what is found
	kind    approval.SessionKind
	session string // of a run that goes on
	sandbox *confinement
	rules   []approval.Rule // those of the store, when it was opened
	later   func() string   // which deny came after that
	// programs are what the run starts, as they were when it began.
	programs *pinned.Programs
}

// prepare finds a worker and what holds for it, and asks whether to trust it.
func (f *runFlags) prepare(c *cobra.Command, name string) (*prepared, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return f.prepareIn(c, cwd, name)
}

// prepareIn is prepare in another folder than that of the process.
func (f *runFlags) prepareIn(c *cobra.Command, cwd, name string) (*prepared, error) {
	w, err := f.places()
	if err != nil {
		return nil, err
	}
	w.cwd = cwd
	path, err := config.FindWorker(name, w.cwd, w.places.Config)
	if err != nil {
		return nil, err
	}
	file, err := config.Read(path, config.WorkerFile)
	if err != nil {
		return nil, err
	}
	trusted, err := f.trusts(c, w, file, f.dryRun)
	if err != nil {
		return nil, err
	}
	if file, err = override.Apply(file, f.set); err != nil {
		return nil, misused(c, "--set %v", err)
	}
	if w.cfg, err = w.configure(file, trusted); err != nil {
		return nil, err
	}
	for _, ignored := range w.cfg.Ignored {
		fmt.Fprintf(c.ErrOrStderr(), "assent: not trusted, so left out: %s\n", shownText(ignored))
	}
	return w, f.confine(c, w)
}

// places finds where things are, and reads the policy of -c.
func (f *workFlags) places() (*prepared, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	dir, err := config.UserFolder()
	if err != nil {
		return nil, err
	}
	state, err := stateFolder(f.state)
	if err != nil {
		return nil, err
	}
	w := &prepared{state: state, cwd: cwd, programs: &pinned.Programs{}, places: config.Places{Admin: config.AdminFile, Config: dir, Resolve: resolveExisting}}
	if f.config == "" {
		return w, nil
	}
	file, err := config.Read(f.config, "")
	if err != nil {
		return nil, err
	}
	w.cfg, err = w.places.Operator(file)
	if err != nil {
		return nil, err
	}
	w.base = w.cfg.Tiers
	return w, nil
}

// configure puts a file on top of what holds anyway: the policy of -c, or the user's config.
func (w *prepared) configure(file *config.File, trusted bool) (*config.Configuration, error) {
	if w.base == nil {
		return w.places.With(file, trusted)
	}
	cfg := *w.cfg
	cfg.Worker, cfg.Files = file.Worker, append(cfg.Files[:len(cfg.Files):len(cfg.Files)], file.Path)
	var err error
	cfg.Effective, err = config.Combine(w.places.Resolve, append(w.base[:len(w.base):len(w.base)],
		config.Tier{Kind: config.Project, Policy: file.Policy, Trusted: trusted || w.places.Owns(file.Path)})...)
	return &cfg, err
}

// trusts reports whether a file may widen what the user's config allows. At a terminal it
// asks, once; where nobody can be asked the file may only forbid.
func (f *workFlags) trusts(c *cobra.Command, w *prepared, file *config.File, looking bool) (bool, error) {
	if w.places.Owns(file.Path) {
		return true, nil
	}
	known := trust.Folder(filepath.Join(w.state, "trust"))
	state, err := standingOf(c.Context(), known, file)
	switch {
	case err != nil || state == trust.Trusted:
		return err == nil, err
	case looking:
		return false, nil
	case personHere():
		return true, askTrust(c, known, file, false) // anything but a yes is an error
	}
	fmt.Fprintf(c.ErrOrStderr(), "assent: %s is not trusted, so it can only forbid; see 'assent trust %s'\n", shownText(file.Path), shownText(file.Path))
	return false, nil
}

func standingOf(ctx context.Context, known trust.Store, file *config.File) (trust.State, error) {
	bundle, err := trust.Of(file)
	if err != nil {
		return trust.Untrusted, err
	}
	record, there, err := known.Get(ctx, bundle.Path)
	if err != nil {
		return trust.Untrusted, err
	}
	state, _ := trust.Compare(bundle, record, there)
	return state, nil
}

// confine finds the sandbox for what is prepared, and says if there is none.
func (f *workFlags) confine(c *cobra.Command, w *prepared) (err error) {
	if w.sandbox, err = findSandbox(c.Context(), w.cfg.Policy, w.state, w.cfg.Files...); err != nil {
		return err
	}
	w.sandbox.steps = w.cfg.User.Mode == approval.ModeAsk && !f.approveAll && !f.strict && (personHere() || f.ask == "inbox")
	w.sandbox.say(c.ErrOrStderr())
	return nil
}

// makeRoots makes the folders that may be written and are not there.
func makeRoots(cfg *config.Configuration) error {
	for _, r := range cfg.MissingRoots() {
		if err := os.MkdirAll(r.Host, 0o700); err != nil {
			return fmt.Errorf("%s: root %s: %w", r.Source, r.Name, err)
		}
	}
	return nil
}

// boxOptions are those of every toolbox of a run.
func (w *prepared) boxOptions() toolbox.Options {
	return toolbox.Options{
		State: w.state, Protected: []string{w.places.Config}, Environ: os.Environ(),
		Undo: undoFolder(w.state, w.cfg.Files[len(w.cfg.Files)-1]), Hold: w.sandbox.hold, Rules: w.rules, Later: w.later,
		Programs: w.programs,
	}
}
