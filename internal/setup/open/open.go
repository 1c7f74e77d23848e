package open

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/proof"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/snapshot"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
	"github.com/assent-dev/assent/store/sessions"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/command"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/roots"
)

// A Use is what things are opened for. The zero Use is [Look].
type Use int

// The uses.
const (
	Look    Use = iota // says what would happen: nothing runs, is made or is recorded
	Run                // one session that ends with the process, unless it is kept
	Gateway            // sessions come and go with clients
)

// An Order is what a door needs.
type Order struct {
	Use Use
	// Mode is what the command line says; nil leaves it to the config.
	Mode *policy.Mode
	// Steps says that somebody is there to be asked whether a command may leave the sandbox.
	Steps bool
	// Held finds the sandbox even for who only looks, so that calls have the fingerprints of a
	// run.
	Held bool
	// NoTools says that only connectors are wanted, so that no sandbox is needed for tools.
	NoTools bool
	// Session is that of a run that goes on; empty begins a new one, of Kind. One that is
	// Kept outlives this process.
	Session string
	Kind    sessions.Kind
	Kept    bool
	// Folder is the project of another agent's session. Such a session has no owner: hooks begin
	// it, and its agent ends it.
	Folder string
	// Agent is who asks, for a person who answers elsewhere; empty means the name of the program.
	Agent string
	// Programs are what a run that goes on starts, as they were when it began; nil means as
	// they are now.
	Programs *command.Programs
}

// A Base is what gates and tools stand on. Close it when the last call has ended.
type Base struct {
	*setup.Setup
	// Mode is who answers when nothing remembered does.
	Mode    policy.Mode
	Session string
	// Store is where all processes meet; nil if only looking, and there is none.
	Store *store.Store
	// Sandbox is what holds tools; nil if nobody looked for one.
	Sandbox *Sandbox
	// Kept are the rules of the store that were for this project when it was opened.
	Kept []policy.Rule
	// Programs are what is started, as they were at first: others are refused.
	Programs *command.Programs
	// KeepSession leaves the session open when the base is closed.
	KeepSession bool

	use     Use
	agent   string // who asks
	standIn string // a folder with stand-ins for roots that are not there; empty for none
}

// Open opens the sandbox and the store, in this order: where a sandbox is required and there
// is none, nothing is made.
func Open(ctx context.Context, s *setup.Setup, o Order) (b *Base, err error) {
	b = &Base{Setup: s, Mode: s.Mode(), use: o.Use, Session: cmp.Or(o.Session, rand.Text()), KeepSession: o.Kept,
		Programs: o.Programs, agent: cmp.Or(o.Agent, filepath.Base(os.Args[0]))}
	if b.Programs == nil {
		b.Programs = &command.Programs{}
	}
	if o.Mode != nil {
		b.Mode = s.Person.Switched(*o.Mode)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	if err := b.openSandbox(ctx, o); err != nil {
		return b, err
	}
	if err := b.makeRoots(); err != nil {
		return b, err
	}
	if err := b.openStore(ctx, o); err != nil || b.Store == nil {
		return b, err
	}
	rules, err := b.Store.Rules(ctx)
	if err != nil {
		return b, err
	}
	b.Kept = policy.RulesIn(rules.Rules(), b.Scope)
	return b, nil
}

func (b *Base) openSandbox(ctx context.Context, o Order) (err error) {
	if o.NoTools || o.Use == Look && !o.Held && b.Shell.Default.WhenSandboxed == "" && b.OS.Network.Off() {
		return nil
	}
	if b.Sandbox, err = FindSandbox(ctx, b.Setup); err != nil {
		if o.Use == Look && errors.Is(err, ErrRequired) {
			return nil // what would happen can still be told, but not what would hold it
		}
		return err
	}
	b.Sandbox.steps = o.Steps && b.Mode == policy.ModeAsk
	return nil
}

// openStore opens the store, and begins the session of a run.
func (b *Base) openStore(ctx context.Context, o Order) (err error) {
	if o.Use == Look {
		b.Store, err = ReadStore(ctx, b.Places, b.Person)
		if errors.Is(err, ErrNoStore) {
			b.Store, err = nil, nil
		}
		return err
	}
	if b.Store, err = Store(ctx, b.Places, b.Person); err != nil {
		return err
	}
	b.Places.WakeBridge()
	if err := tidyLog(ctx, b.Store, b.Places.State, b.Person.Audit); err != nil || o.Use != Run {
		return err
	}
	if _, err := b.Store.CleanSessions(ctx); err != nil { // of runs that were killed
		return err
	}
	session := sessions.Session{ID: b.Session, Kind: cmp.Or(o.Kind, sessions.KindRun), Owner: store.ThisProcess(),
		Kept: o.Kept}
	if o.Folder != "" {
		b.KeepSession = true
		session = sessions.Session{ID: b.Session, Kind: sessions.KindHook, Folder: o.Folder}
	}
	return b.Store.BeginSession(ctx, session)
}

// makeRoots makes the folders that may be written and are not there. Who only looks has
// empty ones in their place.
func (b *Base) makeRoots() (err error) {
	missing := b.MissingRoots()
	if len(missing) == 0 {
		return nil
	}
	if b.use == Look {
		if b.standIn, err = os.MkdirTemp("", "assent-look-"); err != nil {
			return err
		}
		b.Policy, err = b.Policy.StandIns(b.standIn)
		return err
	}
	for _, r := range missing {
		if err := os.MkdirAll(r.Host, 0o700); err != nil {
			return fmt.Errorf("%s: root %s: %w", r.Source, r.Name, err)
		}
	}
	return nil
}

// Gate is what every gate of the base has: who answers, what is remembered, and what the
// policy of the one who calls denies and allows. The door adds its approver and recorder.
func (b *Base) Gate(conf config.Rules) approval.Config {
	return approval.Config{
		Session: b.Session, Project: b.Scope, Mode: b.Mode, Policy: conf.Set, Fixed: conf.Now, Sandbox: b.Sandbox.Words(),
		Rules: b.Store, Grants: b.Store, Requests: b.Store, Claims: b.Store,
		Proofs: proof.Verifier(proof.NewBook(b.Store).Key), Team: b.Team(),
		Origin: func(context.Context) approval.Origin { return setup.Origin(b.agent, b.Dir) },
	}
}

// Denied tells lists, searches and commands which acts are denied, by a rule or for the
// session, or are for the team to decide about. What cannot be found out is denied.
func (b *Base) Denied(conf config.Rules) func(context.Context, policy.Act) bool {
	call := policy.Call{Session: b.Session, Project: b.Scope}
	return func(ctx context.Context, act policy.Act) bool {
		if b.Decided(call, act) {
			return true
		}
		rules, err := conf.Current()
		if err != nil {
			return true
		}
		if b.Store == nil {
			meets, _ := policy.Policy{Fixed: rules}.Denies(call, act, time.Now())
			return meets == policy.MatchYes
		}
		return approval.IsDenied(ctx, b.Store, call, rules, act, time.Now())
	}
}

// Tools say how a box of tools differs from others of the base.
type Tools struct {
	// Parent is the box of the worker that called this one; nil for none.
	Parent *toolbox.Box
	// Further are tools that are not of the policy, but that config has a word on.
	Further []tool.Tool
	// Rules are those of the policy, if they are others than its own.
	Rules config.Rules
	// Tmp is a folder that is /tmp for all commands; empty gives each its own.
	Tmp string
	// Plain opens tools that nothing holds, for a list of them.
	Plain bool
}

// Box opens the tools of a configuration: that of the setup, or of a worker on top of it.
func (b *Base) Box(cfg *config.Configuration, t Tools) (*toolbox.Box, error) {
	if t.Rules.Set == nil {
		t.Rules = cfg.InForce()
	}
	opts := toolbox.Options{
		State: b.Places.State, Protected: append(b.Protected(), cfg.Files...), ProtectedNames: b.SettingNames,
		Environ: os.Environ(), Undo: b.undo(cfg),
		Snapshots: Snapshots(b.Places.State, cfg.Files[len(cfg.Files)-1], cfg.Roots),
		Programs:  b.Programs, Denied: b.Denied(t.Rules), Rules: b.Kept, Further: t.Further,
		Parent: t.Parent, Looking: b.use == Look, Tmp: t.Tmp,
	}
	opts.Snapshots.Project = b.Project()
	var err error
	if opts.Shell, err = shellProgram(); err != nil {
		return nil, err
	}
	if b.Sandbox != nil && !t.Plain {
		opts.Hold = b.Sandbox.hold
		if b.use == Look {
			opts.Hold = b.Sandbox.looked
		}
	}
	denied := func() string { return "" }
	if b.Store != nil {
		denied = laterDeny(b.Scope, b.Kept, t.Rules, b.Store.Rules, b.grants)
	}
	opts.Later = func() string { return cmp.Or(denied(), decidedFile(b.Decided)) }
	switch {
	case cfg.Worker != nil:
		opts.Folder, opts.File = cfg.Worker.Folder, cfg.Worker.File
	case b.File != nil:
		opts.Folder, opts.File = b.File.Folder, b.File.Policy.File
	}
	return toolbox.Open(cfg.Policy, opts)
}

// undo keeps what tools replace, with the file whose roots it lies in.
func (b *Base) undo(cfg *config.Configuration) files.Undo {
	if b.use == Look {
		return nil
	}
	return UndoFolder(b.Places.State, cfg.Files[len(cfg.Files)-1])
}

// UndoFolder is where a state folder keeps what tools replaced.
func UndoFolder(state, policyFile string) *files.UndoFolder {
	return &files.UndoFolder{Dir: setup.Places{State: state}.UndoFolder(), Policy: policyFile}
}

// Snapshots is where a state folder keeps what commands changed. A git that lies in one of the
// roots is not run: an agent may have put it there.
func Snapshots(state, policyFile string, list []roots.Root) *snapshot.Store {
	s := &snapshot.Store{Dir: filepath.Join(state, "undo", "commands"), State: state, Policy: policyFile}
	git, err := exec.LookPath("git")
	if err == nil {
		git, err = filepath.EvalSymlinks(git)
	}
	if err != nil {
		return s
	}
	for _, r := range list {
		host, err := filepath.EvalSymlinks(r.Host)
		if err != nil {
			host = r.Host
		}
		if rel, err := filepath.Rel(host, git); err == nil && filepath.IsLocal(rel) {
			return s
		}
	}
	s.Git = git
	return s
}

// grants are those of the sessions that the base serves.
func (b *Base) grants(ctx context.Context) ([]policy.Grant, error) {
	if b.use == Gateway {
		return b.Store.AllGrants(ctx)
	}
	set, err := b.Store.Grants(ctx, b.Session)
	return set.Grants(), err
}

// Close ends the session, and gives everything back.
func (b *Base) Close() error {
	var errs []error
	if b.Store != nil {
		if b.use == Run && !b.KeepSession {
			errs = append(errs, endSession(b.Store, b.Session))
		}
		errs = append(errs, b.Store.Close())
	}
	errs = append(errs, b.Sandbox.Close())
	if b.standIn != "" {
		errs = append(errs, os.RemoveAll(b.standIn))
	}
	return errors.Join(errs...)
}

func endSession(s *store.Store, id string) error {
	err := s.EndSession(context.Background(), id)
	if errors.Is(err, sessions.ErrNoSession) {
		return nil // it had not begun, or was ended meanwhile
	}
	return err
}
