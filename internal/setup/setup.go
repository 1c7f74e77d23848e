package setup

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/realpath"
	"github.com/assent-dev/assent/internal/team/member"
	"github.com/assent-dev/assent/internal/trust"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
)

// An Order is what a door needs to know about.
type Order struct {
	Places Places
	// Dir is the folder that the calls come from: the project is looked for there.
	Dir string
	// File is the policy, worker or config that the operator names with -c. It is trusted
	// and replaces the user's own policy and what would be found; the administrator's
	// word holds besides it.
	File string
	// Worker is the worker that is to run, by its name or file; none means the policy of
	// the project.
	Worker string
	// Set are values that the command line puts in place of those of the worker or File.
	Set []string
	// Default says that something holds where no file speaks: see [Default] and [Quiet]. Careful says
	// that it is the first, whatever the user chose for other agents.
	Default, Careful bool
	// Raw says that commands run where nothing holds them: another agent runs them by itself.
	Raw bool
	// NoSandbox says why no sandbox holds what runs here; empty if one does. It is asked only
	// where the quiet policy would hold. Nil means what is noted: see [Places.NoSandbox].
	NoSandbox func(context.Context) string
	// Trust is asked about a file that is not trusted as it is. Nil leaves it so: it can
	// only forbid.
	Trust func(context.Context, *config.File) (bool, error)
	// User is the user's config, if it was read already.
	User *config.File
	// Settings are further files that no tool may change: those of agents. SettingNames are such
	// files by their names, wherever they lie: see [roots.Options].
	Settings     []sandbox.Entry
	SettingNames []string
}

// OrderHere is the order of a door in the current folder.
func OrderHere(file, state string) (Order, error) {
	places, err := Here(state)
	if err != nil {
		return Order{}, err
	}
	cwd, err := os.Getwd()
	return Order{Places: places, Dir: cwd, File: file}, err
}

// Named is what holds under a policy that the operator names.
func Named(ctx context.Context, file, state string) (*Setup, error) {
	order, err := OrderHere(file, state)
	if err != nil {
		return nil, err
	}
	return Resolve(ctx, order)
}

// A Setup is what holds.
type Setup struct {
	// Configuration is what all tiers say together. Its User has the defaults of runs:
	// those of the user's config, or of the file that the operator named.
	*config.Configuration
	Places Places
	Dir    string
	// Scope is the folder of the project that the calls belong to: of the rules that people keep,
	// those for it hold here, and those for everywhere.
	Scope string
	// Person is the user's own config, whatever the operator named: how this person wants
	// to be asked and told, and what is kept.
	Person *config.User
	// File is the worker or policy that holds here; nil if there is none. What it names by a
	// relative path is relative to its folder.
	File *config.File
	// Untrusted says that the file is not trusted, so that it can only forbid.
	Untrusted bool
	// Quiet says that the quiet policy holds where no file speaks. Careful says why it does not
	// although the user chose it; empty if there is nothing to say.
	Quiet   bool
	Careful string
	// SettingNames are those of the order.
	SettingNames []string

	byDefault bool // something holds where no file speaks
	settings  []sandbox.Entry
	person    string         // the path of the user's own config
	operator  *config.File   // of -c; nil for none
	tiers     []config.Tier  // below a worker or project
	files     []string       // of those tiers
	member    *member.Member // of the team of this machine; nil for none
}

// Resolve finds out what holds.
func Resolve(ctx context.Context, o Order) (*Setup, error) {
	s := &Setup{Places: o.Places, Dir: o.Dir, byDefault: o.Default, settings: o.Settings, SettingNames: o.SettingNames}
	if err := s.readTiers(o); err != nil {
		return nil, err
	}
	if err := s.findFile(ctx, o); err != nil {
		return nil, err
	}
	var err error
	if s.Scope, err = s.scope(); err != nil {
		return nil, err
	}
	if o.Default {
		lowest, err := s.lowest(ctx, o)
		if err != nil {
			return nil, err
		}
		s.tiers = slices.Insert(s.tiers, 0, lowest)
	}
	s.Configuration, err = s.With(s.own(), !s.Untrusted)
	return s, err
}

// scope is the folder of the policy that holds here, else of the project that the calls come from.
// A worker belongs to the project that its file lies in.
func (s *Setup) scope() (string, error) {
	switch {
	case s.File == nil:
		return ProjectOf(s.Dir)
	case s.File.Kind == config.WorkerFile:
		return ProjectOf(config.WorkerProject(s.File.Folder))
	}
	return resolved(s.File.Folder)
}

// ProjectOf is the project that a folder belongs to: the folder of the policy that is found
// there, else the top of the repository, else the folder itself; resolved.
func ProjectOf(dir string) (string, error) {
	policy, err := config.FindProject(dir)
	switch {
	case err != nil:
		return "", err
	case policy != "":
		return resolved(filepath.Dir(filepath.Dir(policy)))
	}
	if dir, err = resolved(dir); err != nil {
		return "", err
	}
	return cmp.Or(config.RepositoryTop(dir), dir), nil
}

// resolved is a folder as rules name it.
func resolved(dir string) (string, error) {
	dir, err := realpath.Resolve(dir)
	if err != nil {
		return "", fmt.Errorf("finding the project folder: %w", err)
	}
	return realpath.Case(dir), nil
}

// lowest is what holds where no file speaks: the careful default, or the quiet policy if the user
// chose it, the project has no policy of its own, not even one that is not trusted, and a sandbox
// works.
func (s *Setup) lowest(ctx context.Context, o Order) (config.Tier, error) {
	if o.Careful || s.Person.Hook.Policy != config.HookQuiet || s.File != nil {
		return defaultTier(o.Dir, s.saysShell()), nil
	}
	noSandbox := o.NoSandbox
	if noSandbox == nil {
		noSandbox = func(context.Context) string { return s.Places.NoSandbox() }
	}
	if s.Careful = s.TooWide(); s.Careful == "" {
		if why := noSandbox(ctx); why != "" {
			s.Careful = "no sandbox holds: " + why
		}
	}
	if s.Careful != "" {
		return defaultTier(o.Dir, s.saysShell()), nil
	}
	s.Quiet = true
	return quietTier(o.Dir, s.saysShell(), s.Person.Hook.Shell == config.HookStage && !o.Raw)
}

// TooWide says why the folder is not one project in which everything may be changed unasked: in
// the home folder lies what shells and agents run and obey tomorrow.
func (s *Setup) TooWide() string {
	dir, err := realpath.Resolve(s.Dir)
	if err != nil {
		return err.Error()
	}
	home, _ := os.UserHomeDir() // without one there is still the state folder
	for _, own := range []struct{ what, path string }{{"your home folder", home},
		{"assent's state folder", s.Places.State}} {
		switch real, _ := realpath.Resolve(own.path); {
		case own.path == "" || !sandbox.Below(dir, real):
		case dir == real:
			return dir + " is " + own.what
		default:
			return own.what + " lies in " + dir
		}
	}
	return ""
}

// readTiers reads what holds below the project's own file: the administrator's word, and the
// user's or the operator's.
func (s *Setup) readTiers(o Order) (err error) {
	if err := s.readAdmin(); err != nil {
		return err
	}
	user := o.User
	if user == nil {
		if user, err = config.ReadUser(s.Places.Config); err != nil {
			return err
		}
	}
	s.Person, s.person = user.User, user.Path
	if o.File == "" {
		s.add(config.UserTier, user)
		return nil
	}
	if s.operator, err = config.Read(o.File, ""); err != nil {
		return err
	}
	if o.Worker == "" { // else the values are for the worker
		if s.operator, err = set(s.operator, o.Set); err != nil {
			return err
		}
	}
	s.add(config.Operator, s.operator)
	return nil
}

func (s *Setup) readAdmin() error {
	if s.Places.Admin == "" {
		return nil
	}
	admin, err := config.ReadAdmin(s.Places.Admin)
	if err != nil || admin == nil {
		return err
	}
	s.add(config.Administrator, admin)
	s.readTeam(admin)
	return nil
}

// Checked is what a file is checked against: what holds whatever it says, and what of this
// machine decides whether it can be used. Where assent keeps its own files does not. Reserved is what the people of a
// team decide about.
func Checked(p Places) (below []config.Tier, reserved []policy.Reservation, setting config.Setting, err error) {
	s := &Setup{Places: p, Configuration: &config.Configuration{}}
	if err := s.readAdmin(); err != nil {
		return nil, nil, setting, err
	}
	if s.member != nil {
		reserved = s.member.Reservations()
	}
	setting = s.Setting(&config.Policy{})
	setting.Own, setting.Hidden, setting.CacheFolder = nil, nil, filepath.Join(os.TempDir(), "assent-caches")
	return s.tiers, reserved, setting, nil
}

func (s *Setup) add(kind config.TierKind, f *config.File) {
	s.tiers = append(s.tiers, config.Tier{Kind: kind, Policy: f.Policy})
	s.files = append(s.files, f.Path)
}

// findFile finds the worker or the policy of the project, and whether it is trusted.
func (s *Setup) findFile(ctx context.Context, o Order) error {
	path, kind := "", config.PolicyFile
	var err error
	switch {
	case o.Worker != "":
		kind = config.WorkerFile
		path, err = config.FindWorker(o.Worker, o.Dir, s.Places.Config)
	case s.operator != nil:
		s.File = s.operator
		return nil
	default:
		path, err = config.FindProject(o.Dir)
	}
	if err != nil || path == "" {
		return err
	}
	if s.File, err = config.Read(path, kind); err != nil {
		return err
	}
	trusted, err := s.Trusts(ctx, s.File)
	if err == nil && !trusted && o.Trust != nil {
		trusted, err = o.Trust(ctx, s.File)
	}
	if err != nil {
		return err
	}
	s.Untrusted = !trusted
	s.File, err = set(s.File, o.Set)
	return err
}

// A SetError says what is wrong with a value that the command line sets.
type SetError struct{ Err error }

func (e *SetError) Error() string { return "--set " + e.Err.Error() }
func (e *SetError) Unwrap() error { return e.Err }

func set(f *config.File, values []string) (*config.File, error) {
	out, err := config.Override(f, values)
	if err != nil {
		return nil, &SetError{err}
	}
	out.Policy.Trusted = f.Policy.Trusted // values change nothing about which programs are trusted
	return out, nil
}

// own is the file that stands on top of the tiers; nil if the operator's is the last.
func (s *Setup) own() *config.File {
	if s.File == s.operator {
		return nil
	}
	return s.File
}

// Trusts reports whether a file may widen what holds without it: the user's own may, and what
// the user has trusted as it is now.
func (s *Setup) Trusts(ctx context.Context, f *config.File) (bool, error) {
	if s.Places.owns(f.Path) {
		return true, nil
	}
	state, err := trust.Standing(ctx, trust.Folder(s.Places.TrustFolder()), f)
	return err == nil && state == trust.Trusted, err
}

// With is what holds for a worker or project on top of the other tiers; the file may be nil.
func (s *Setup) With(file *config.File, trusted bool) (*config.Configuration, error) {
	c := &config.Configuration{User: s.Person, Files: slices.Clone(s.files)}
	if s.operator != nil {
		c.Worker, c.User = s.operator.Worker, s.operator.User
		if c.User == nil {
			c.User = &config.User{Policy: &config.Policy{}}
		}
	}
	tiers := slices.Clone(s.tiers)
	if file != nil {
		c.Worker, c.Files = file.Worker, append(c.Files, file.Path)
		tiers = append(tiers, config.Tier{Kind: config.Project, Policy: file.Policy, Trusted: trusted})
	}
	var err error
	if c.Effective, err = config.Combine(realpath.Resolve, tiers...); err != nil {
		return c, err
	}
	s.follow(c)
	return c, nil
}

// Mode is who answers when nothing remembered does, where the command line does not say: what
// the config says that holds here. The user's own word that nobody is asked holds also where
// the operator named another file, and so does the master switch.
func (s *Setup) Mode() policy.Mode {
	mode := s.User.Mode
	if s.Person.Mode == policy.ModeStrict {
		mode = policy.ModeStrict
	}
	return s.Person.Switched(mode)
}

// saysShell reports whether a file that may say so speaks about commands.
func (s *Setup) saysShell() bool {
	if f := s.own(); f != nil && f.Policy.HasShell && !s.Untrusted {
		return true
	}
	return slices.ContainsFunc(s.tiers, func(t config.Tier) bool { return t.Policy.HasShell })
}
