package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/crew"
	"github.com/assent-dev/assent/internal/keypress"
	"github.com/assent-dev/assent/internal/model/providers"
	"github.com/assent-dev/assent/internal/override"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/internal/trust"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/tool/shell/runner"
)

// workFlags are those of every command that calls tools: who answers, and by which config.
type workFlags struct {
	askFlags
	keeper
	config string
	ask    string
	set    []string
}

func (f *workFlags) register(c *cobra.Command) {
	f.askFlags.register(c)
	f.keeper.register(c)
	c.Flags().StringVarP(&f.config, "config", "c", "", "a policy in place of your own config and what is found")
	c.Flags().StringVar(&f.ask, "ask", "terminal", "who is asked: terminal, or inbox for whoever answers in another process")
	c.Flags().StringArrayVar(&f.set, "set", nil, "another value for a key of the worker, as KEY.PATH=VALUE; may be repeated")
}

func (f *workFlags) check(c *cobra.Command) error {
	if err := f.askFlags.check(c); err != nil {
		return err
	}
	if f.ask != "terminal" && f.ask != "inbox" {
		return usageError{what: fmt.Sprintf("--ask %q: it is terminal or inbox", f.ask), help: c.CommandPath() + " --help"}
	}
	return nil
}

// personHere reports whether a person can be asked at this terminal.
func personHere() bool { return keypress.Person() != nil }

// somebody refuses to begin where nobody could be asked.
func (f *workFlags) somebody(c *cobra.Command, deferred bool) error {
	if runner.Inside() {
		return fmt.Errorf("'%s' was started by a tool call: what an agent may do is for a person to say; run it in your own terminal", c.CommandPath())
	}
	if personHere() || f.approveAll || f.strict || deferred || f.ask == "inbox" {
		return nil
	}
	if f.config == "" { // the user's own config may say that nobody is to be asked
		user, err := userConfig()
		if err != nil || user.Mode != approval.ModeAsk {
			return err
		}
	}
	return usageError{
		what: "nobody can be asked: there is no terminal; choose --approve-all, --strict, --defer or --ask inbox",
		help: c.CommandPath() + " --help",
	}
}

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
		return nil, usageError{what: "--set " + err.Error(), help: c.CommandPath() + " --help"}
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
	w := &prepared{state: state, cwd: cwd, places: config.Places{Admin: config.AdminFile, Config: dir, Resolve: resolveExisting}}
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

// openDesk opens the desk of a run, as flags and the user's config say.
func (f *workFlags) openDesk(ctx context.Context, c *cobra.Command, w *prepared, keeps bool, stop context.CancelCauseFunc) (*desk, error) {
	mode := f.mode()
	if !f.approveAll && !f.strict {
		mode = w.cfg.User.Mode
	}
	if mode == approval.ModeApproveAll {
		fmt.Fprintln(c.ErrOrStderr(), "WARNING: approve-all: what would be asked runs without a question.")
	}
	timeout := f.askTimeout
	if timeout == 0 {
		timeout = w.cfg.User.AskTimeout
	}
	d, err := openDesk(ctx, deskOrder{
		state: w.state, kind: cmp.Or(w.kind, approval.SessionRun), mode: mode, timeout: timeout, session: w.session, keeps: keeps, sandbox: w.sandbox,
		asks: func(d *desk) approval.Approver {
			switch {
			case keeps: // nobody is asked while the run lasts
				return nil
			case f.ask == "inbox":
				return approval.Queue(d.store)
			case personHere():
				return d.terminal(stop)
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	if d.off != "" {
		sayApprovalsOff(c.ErrOrStderr(), d.off)
	}
	if w.rules, err = d.keptRules(ctx); err != nil {
		return nil, errors.Join(err, d.close())
	}
	w.later = laterDeny(w.rules, d.store.Rules, func(ctx context.Context) ([]approval.Grant, error) {
		set, err := d.store.Grants(ctx, d.session)
		return set.Grants(), err
	})
	return d, nil
}

// stopsOnDeny reports whether a denial ends the run.
func (f *workFlags) stopsOnDeny(w *prepared) bool {
	return f.onDeny == "stop" || w.cfg.User.StopOnDeny
}

// boxOptions are those of every toolbox of a run.
func (w *prepared) boxOptions() toolbox.Options {
	return toolbox.Options{
		State: w.state, Protected: []string{w.places.Config}, Environ: os.Environ(),
		Undo: undoFolder(w.state, w.cfg.Files[len(w.cfg.Files)-1]), Hold: w.sandbox.hold, Rules: w.rules, Later: w.later,
	}
}

// crew gathers the workers of a run.
func (f *runFlags) crew(w *prepared, d *desk, stop context.CancelCauseFunc) *crew.Crew {
	all := &crew.Crew{
		Folders: []string{filepath.Join(w.cwd, "workers"), filepath.Join(w.places.Config, "workers"), w.places.Config},
		Box:     w.boxOptions(), Denied: d.denied, Gate: d.gate, Ties: &d.ties, Stop: stop,
		Limits: f.limits(), StopOnDeny: f.stopsOnDeny(w),
	}
	known := trust.Folder(filepath.Join(w.state, "trust"))
	all.Configure = func(ctx context.Context, file *config.File) (*config.Configuration, error) {
		state, err := standingOf(ctx, known, file)
		if err != nil {
			return nil, err
		}
		return w.configure(file, state == trust.Trusted || all.Agreed(file))
	}
	all.Model = func(ctx context.Context, of *config.Worker) (worker.Talker, error) {
		t, err := f.openModel(ctx, w, of)
		return thinking{t, d.status}, err
	}
	return all
}

// openModel opens the model of a worker: its own, that of the flag, or that of the user. For
// the worker that the person named the flag comes first.
func (f *runFlags) openModel(ctx context.Context, w *prepared, of *config.Worker) (worker.Talker, error) {
	type choice struct{ name, folder string }
	own, flag, user := choice{of.Model, of.Folder}, choice{f.model, w.cwd}, choice{w.cfg.User.Model, w.places.Config}
	choices := []choice{own, flag, user}
	if of == w.cfg.Worker {
		choices = []choice{flag, own, user}
	}
	for _, choice := range choices {
		if choice.name == "" {
			continue
		}
		provider, _, _ := strings.Cut(choice.name, ":")
		p := w.cfg.User.Providers[provider]
		return providers.Open(ctx, choice.name, providers.Options{
			BaseURL: p.BaseURL, KeyVariable: p.KeyVariable, MaxTokens: p.MaxTokens, Folder: choice.folder,
		})
	}
	return nil, errors.New("it names no model; write model: into its file, give --model, or set model: in your config.yaml")
}

func validJSON(data []byte) bool { return json.Valid(data) }
