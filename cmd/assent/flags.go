package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/auditview"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/runs"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/team/link"
	"github.com/assent-dev/assent/internal/trust"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/terminal"
	"github.com/assent-dev/assent/tool/shell/runner"
)

// askFlags say who answers, for every command that runs an agent.
type askFlags struct {
	approveAll bool
	strict     bool
	onDeny     string
	askTimeout time.Duration
}

func (f *askFlags) register(c *cobra.Command) {
	c.Flags().BoolVar(&f.approveAll, "approve-all", false,
		"approve whatever would be asked, except what only a person may answer")
	c.Flags().BoolVar(&f.strict, "strict", false, "refuse whatever would be asked")
	c.Flags().DurationVar(&f.askTimeout, "ask-timeout", 0,
		"deny a request that has no answer after this time, such as 5m (default: no timeout)")
}

// registerOnDeny adds the flag of what goes on after a denial; a single call does not.
func (f *askFlags) registerOnDeny(c *cobra.Command) {
	c.Flags().StringVar(&f.onDeny, "on-deny", "continue", "what a denial does to the run: continue or stop")
}

// check refuses flags that contradict each other.
func (f *askFlags) check(c *cobra.Command) error {
	switch {
	case f.approveAll && f.strict:
		return misused(c, "--approve-all and --strict exclude each other")
	case f.onDeny != "" && f.onDeny != "continue" && f.onDeny != "stop":
		return misused(c, "--on-deny %q: it is continue or stop", f.onDeny)
	case f.askTimeout < 0:
		return misused(c, "--ask-timeout %v: it cannot be negative", f.askTimeout)
	}
	return nil
}

// mode is what the flags say about who answers; nil if they say nothing.
func (f *askFlags) mode() *policy.Mode {
	var mode policy.Mode
	switch {
	case f.strict:
		mode = policy.ModeStrict
	case f.approveAll:
		mode = policy.ModeApproveAll
	default:
		return nil
	}
	return &mode
}

// workFlags are those of every command that calls tools: who answers, and by which config.
type workFlags struct {
	askFlags
	storeFlags
	config string
	ask    string
	set    []string
}

func (f *workFlags) register(c *cobra.Command) {
	f.askFlags.register(c)
	f.storeFlags.register(c)
	c.Flags().StringVarP(&f.config, "config", "c", "", "use this policy instead of your config and the project's policy")
	c.Flags().StringVar(&f.ask, "ask", "terminal",
		"where to ask: terminal or inbox")
	c.Flags().StringArrayVar(&f.set, "set", nil,
		"override a key of the worker: KEY.PATH=VALUE; may be repeated")
}

func (f *workFlags) check(c *cobra.Command) error {
	if err := f.askFlags.check(c); err != nil {
		return err
	}
	if f.ask != "terminal" && f.ask != "inbox" {
		return misused(c, "--ask %q: it is terminal or inbox", f.ask)
	}
	return nil
}

// personHere reports whether a person can be asked at this terminal.
func personHere() bool { return terminal.Person() != nil }

// canAsk refuses to begin where nobody could be asked.
func (f *workFlags) canAsk(c *cobra.Command, deferred bool) error {
	if err := byPerson(c); err != nil {
		return err
	}
	if personHere() || f.approveAll || f.strict || deferred || f.ask == "inbox" {
		return nil
	}
	if f.config == "" { // the user's own config may say that nobody is to be asked
		user, err := userConfig()
		if err != nil || user.Mode != policy.ModeAsk {
			return err
		}
	}
	if off, err := f.approvalsOff(c); off || err != nil {
		return err
	}
	if f.asksTeam() {
		return nil
	}
	return misused(c, "there is no terminal to ask at; choose %s", withoutTerminal(c))
}

// asksTeam reports whether this machine has joined a team whose people can be asked.
func (f *workFlags) asksTeam() bool {
	places, err := setup.Here(f.state)
	if err != nil || !link.Joined(places.State) {
		return false
	}
	admin, err := config.ReadAdmin(places.Admin)
	return err == nil && admin != nil && admin.Policy.Team.Trust != ""
}

// withoutTerminal are the flags of a command that say who answers where there is no terminal.
func withoutTerminal(c *cobra.Command) string {
	if c.Flags().Lookup("defer") == nil {
		return "--approve-all, --strict or --ask inbox"
	}
	return "--approve-all, --strict, --defer or --ask inbox"
}

// approvalsOff reports whether the master switch is off, so that nobody is asked.
func (f *workFlags) approvalsOff(c *cobra.Command) (bool, error) {
	s, err := f.reading(c.Context())
	if err = ifAny(err); err != nil {
		return false, err
	}
	if s != nil {
		defer s.Close()
	}
	turnOn, err := approvalsOff(c.Context(), s)
	return turnOn != "", err
}

// resolve finds what holds for a worker in a folder, or for calls by hand if there is none,
// and asks whether to trust it.
func (f *workFlags) resolve(c *cobra.Command, dir, worker string, looking bool) (*setup.Setup, error) {
	order, err := setup.OrderHere(f.config, f.state)
	if err != nil {
		return nil, err
	}
	order.Worker, order.Set, order.Dir = worker, f.set, cmp.Or(dir, order.Dir)
	order.Trust = trustingAt(c, order.Places, looking)
	return resolveFor(c, order)
}

// options are what the flags say of a run.
func (f *workFlags) options(view *runs.View) runs.Options {
	return runs.Options{
		StopOnDeny: f.onDeny == "stop", Mode: f.mode(), AskTimeout: f.askTimeout, AskInbox: f.ask == "inbox",
		View: view,
	}
}

// policyFlags name the policy and the state of a command that looks at them.
type policyFlags struct{ config, state string }

func (f *policyFlags) register(c *cobra.Command) {
	c.Flags().StringVarP(&f.config, "config", "c", "", "the policy file (default: the project's, and your own config)")
	c.Flags().StringVar(&f.state, "state", "", "the state folder (default: assent's own)")
}

// resolve finds what holds in this folder, for who asks nobody. It says of a policy that was
// found and that nobody has trusted that it can only forbid.
func (f *policyFlags) resolve(c *cobra.Command) (*setup.Setup, error) {
	order, err := setup.OrderHere(f.config, f.state)
	if err != nil {
		return nil, err
	}
	s, err := setup.Resolve(c.Context(), order)
	if err == nil && s.Untrusted {
		sayUntrusted(c, s.File)
	}
	return s, err
}

// look opens what holds in this folder, to say what would happen.
func (f *policyFlags) look(c *cobra.Command) (*open.Base, error) {
	s, err := f.resolve(c)
	if err != nil {
		return nil, err
	}
	return open.Open(c.Context(), s, open.Order{Use: open.Look})
}

func sayUntrusted(c *cobra.Command, file *config.File) {
	fmt.Fprintf(c.ErrOrStderr(), "assent: %s is not trusted, so it can only forbid; see 'assent trust %s'\n",
		shownText(file.Path), shownText(file.Path))
}

// needPolicy refuses a folder without a policy.
func needPolicy(c *cobra.Command, s *setup.Setup) error {
	if s.File != nil {
		return nil
	}
	return noPolicy(c)
}

func noPolicy(c *cobra.Command) error {
	return misused(c, "there is no %s here or above; name a policy, or write one with 'assent init'",
		filepath.Join(config.ProjectFolder, "policy.yaml"))
}

// trustingAt asks a person at the terminal about a file that is not trusted as it is; where
// nobody can be asked it can only forbid.
func trustingAt(c *cobra.Command, places setup.Places, looking bool) func(context.Context, *config.File) (bool, error) {
	return func(_ context.Context, file *config.File) (bool, error) {
		switch {
		case looking:
			return false, nil
		case personHere():
			return true, askTrust(c, trust.Folder(places.TrustFolder()), file, false) // anything but a yes is an error
		}
		sayUntrusted(c, file)
		return false, nil
	}
}

// resolveFor is [setup.Resolve] for a command line.
func resolveFor(c *cobra.Command, order setup.Order) (*setup.Setup, error) {
	s, err := setup.Resolve(c.Context(), order)
	var set *setup.SetError
	if errors.As(err, &set) {
		return nil, misused(c, "%v", set)
	}
	if err != nil {
		return nil, err
	}
	if len(s.Stale) > 0 {
		why, _ := s.TeamStatus()
		fmt.Fprintf(c.ErrOrStderr(), "assent: %s. Until then these allows of the policy have no effect: %s\n",
			shownText(why.Why), shownText(some(s.Stale)))
	}
	for _, ignored := range s.Ignored {
		fmt.Fprintf(c.ErrOrStderr(), "assent: not trusted, so left out: %s\n", shownText(ignored))
	}
	return s, nil
}

// some is the first of a list, with the number of the others.
func some(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return fmt.Sprintf("%s, and %d more", list[0], len(list)-1)
}

// storeFlags are how a command reaches what is kept.
type storeFlags struct {
	state string // the flag
}

func (k *storeFlags) register(c *cobra.Command) {
	c.PersistentFlags().StringVar(&k.state, "state", "", "the state folder (default: assent's own)")
}

// reading opens the store for a command that changes nothing. If there is none it makes
// none, and the error is open.ErrNoStore.
func (k *storeFlags) reading(ctx context.Context) (*store.Store, error) {
	return k.open(ctx, open.ReadStore)
}

// read lets do look into the store. If there is none the error is open.ErrNoStore.
func (k *storeFlags) read(ctx context.Context, do func(*store.Store) error) error {
	s, err := k.reading(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	return do(s)
}

// records lets do look at records of the store. If there is none it has none.
func (k *storeFlags) records(ctx context.Context, f auditview.Filter,
	do func(*store.Store, approval.RecordFilter) error) error {
	err := k.read(ctx, func(s *store.Store) error {
		wanted, err := f.Records(ctx, s, time.Now())
		if err != nil {
			return err
		}
		return do(s, wanted)
	})
	return ifAny(err)
}

// ifAny is an error other than that nothing is kept yet.
func ifAny(err error) error {
	if errors.Is(err, open.ErrNoStore) {
		return nil
	}
	return err
}

// changing opens the store for a command that a person gives, and no tool call may.
func (k *storeFlags) changing(c *cobra.Command) (*store.Store, error) {
	if err := byPerson(c); err != nil {
		return nil, err
	}
	return k.open(c.Context(), open.Store)
}

func (k *storeFlags) open(ctx context.Context,
	how func(context.Context, setup.Places, *config.User) (*store.Store, error)) (*store.Store, error) {
	places, err := setup.Here(k.state)
	if err != nil {
		return nil, err
	}
	user, err := places.User()
	if err != nil {
		return nil, err
	}
	return how(ctx, places, user)
}

// byPerson refuses a command that was started by a tool call.
func byPerson(c *cobra.Command) error {
	if !runner.Inside() {
		return nil
	}
	return fmt.Errorf("'%s' was started by a tool call: what an agent may do is for a person to say; run it in your "+
		"own terminal", c.CommandPath())
}

// userConfig is what the user's own config.yaml says.
func userConfig() (*config.User, error) {
	places, err := setup.Here("")
	if err != nil {
		return nil, err
	}
	return places.User()
}

// stateFolder returns the folder where assent keeps its state, or the one that was named.
func stateFolder(named string) (string, error) { return config.StateFolder(named) }
