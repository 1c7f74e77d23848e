package open

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/home"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/toolbox"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/bwrap"
	"github.com/assent-dev/assent/sandbox/detect"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// A Sandbox is what was found for everything that tools start and do, or why there is none.
// A nil Sandbox is one that nobody looked for.
type Sandbox struct {
	// Found is the sandbox; its Runner is nil if there is none.
	Found   detect.Found
	setup   *setup.Setup
	missing *sandbox.UnusableError // nil if there is one
	serve   []string
	steps   bool // a person may be asked to let a command out
}

// FindSandbox looks for a sandbox that holds the profile of the policy. If the policy requires
// one and there is none, the error wraps [ErrRequired].
func FindSandbox(ctx context.Context, s *setup.Setup) (*Sandbox, error) {
	profile, err := s.Policy.Profile(setting(s, s.Policy))
	if err != nil {
		return nil, err
	}
	options, err := detectOptions()
	if err != nil {
		return nil, err
	}
	options.First, options.Kept = true, keptFile(s.Places)
	if !profile.Network.Off() {
		options.Stage = stageHelper(options)
	}
	f := &Sandbox{setup: s, serve: append(slices.Clone(options.Program), detect.WordServe)}
	f.Found, err = detect.Detect(ctx, options, onlyThere(profile))
	if errors.As(err, &f.missing) && !s.OS.Require {
		return f, nil
	}
	if err != nil {
		return nil, unusable(s.Policy, err)
	}
	return f, nil
}

// setting is what of this machine and user the profile of a policy depends on.
func setting(s *setup.Setup, p *config.Policy) config.Setting {
	out := s.Setting(p)
	out.Tools = home.User{Home: out.Home, Env: os.Getenv}.Tools
	return out
}

// Detect tries every sandbox of this machine with a profile.
func Detect(ctx context.Context, p sandbox.Profile) (detect.Found, error) {
	options, err := detectOptions()
	if err != nil {
		return detect.Found{}, err
	}
	options.Stage = stageHelper(options)
	return detect.Detect(ctx, options, p)
}

// TrySandbox finds out why no sandbox works on this machine, empty if one does, and notes it for
// hooks, which have no time to.
func TrySandbox(ctx context.Context, p setup.Places) (why string, err error) {
	options, err := detectOptions()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(p.State, 0o700); err != nil {
		return "", err
	}
	options.First, options.Kept, options.Stage = true, keptFile(p), stageHelper(options)
	found, err := detect.Detect(ctx, options, sandbox.Profile{Limits: sandbox.DefaultLimits()})
	var missing *sandbox.UnusableError
	switch {
	case errors.As(err, &missing):
		why = (&Sandbox{missing: missing}).Cause()
	case err != nil:
		return "", err
	case found.Report.Weaker:
		why = "only " + found.Report.Name + " works here, which is weaker"
	}
	return why, errors.Join(p.NoteSandbox(why), found.Close())
}

// detectOptions is how this program is started for a part of its work.
func detectOptions() (detect.Options, error) {
	program, err := os.Executable()
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return detect.Options{}, fmt.Errorf("finding this program: %w", err)
	}
	o := detect.Options{Program: []string{program, setup.WordInner}}
	if small := smallProgram(program); small != "" {
		o.Sweep = []string{small, detect.WordSweep}
	}
	return o, nil
}

// stageHelper is the process that makes stages: the small program, which starts faster, or this one.
func stageHelper(o detect.Options) []string {
	if small := smallProgram(o.Program[0]); small != "" {
		return []string{small, detect.WordStage}
	}
	return append(slices.Clone(o.Program), detect.WordStage)
}

// keptFile is where it is kept that the sandbox holds, among assent's own files.
func keptFile(p setup.Places) string { return filepath.Join(p.State, "sandbox-checked.json") }

// smallProgram is assent-shell beside this program; empty if it is not there, or if this is not assent
// but a program that embeds it.
func smallProgram(program string) string {
	if !setup.IsOwn(program) {
		return ""
	}
	small := filepath.Join(filepath.Dir(program), "assent-shell")
	if info, err := os.Lstat(small); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		return small
	}
	return ""
}

// WordShell is this program as the shell that interprets commands.
const WordShell = "shell"

// shellProgram is the small program beside this one that interprets commands, or else this
// one.
func shellProgram() ([]string, error) {
	options, err := detectOptions()
	if err != nil {
		return nil, err
	}
	if small := smallProgram(options.Program[0]); small != "" {
		return []string{small}, nil
	}
	return append(options.Program, WordShell), nil
}

// onlyThere leaves out the roots that are made when something is about to run.
func onlyThere(p sandbox.Profile) sandbox.Profile {
	p.Roots = slices.DeleteFunc(slices.Clone(p.Roots), func(r sandbox.Root) bool {
		_, err := os.Lstat(r.Path)
		return errors.Is(err, os.ErrNotExist)
	})
	return p
}

// ErrRequired says that a policy requires a sandbox and there is none.
var ErrRequired = errors.New("nothing was run: a sandbox is required")

// requiredError is [ErrRequired] with the line that requires it.
type requiredError struct {
	source string
	error
}

func (e *requiredError) Error() string {
	return fmt.Sprintf("nothing was run: %s requires a sandbox (require_os_sandbox), but %v", e.source, e.error)
}

func (e *requiredError) Is(target error) bool { return target == ErrRequired }
func (e *requiredError) Unwrap() error        { return e.error }

// unusable says what it means for a policy that no sandbox can be used.
func unusable(conf *config.Policy, err error) error {
	if !errors.As(err, new(*sandbox.UnusableError)) {
		return err
	}
	if conf.OS.Require {
		return &requiredError{conf.OS.RequireSource, err}
	}
	return fmt.Errorf("nothing was run: %w", err)
}

// Words say for the record what holds calls.
func (f *Sandbox) Words() string {
	switch {
	case f == nil:
		return ""
	case f.missing != nil:
		return "none: " + f.Cause()
	case f.Found.Report.Weaker:
		return f.Found.Report.Name + " (weaker)"
	}
	return f.Found.Report.Name
}

// Missing reports whether there is none.
func (f *Sandbox) Missing() bool { return f == nil || f.missing != nil }

// Cause is why there is no sandbox, in a few words.
func (f *Sandbox) Cause() string {
	for _, r := range f.missing.Reports {
		if r.Problem != nil {
			return present.SafeLine(r.Problem.Cause)
		}
	}
	return "there is none for this system"
}

// Footer is what every prompt says about a sandbox that is missing, or weaker.
func (f *Sandbox) Footer() string {
	switch {
	case f == nil:
		return ""
	case f.missing != nil:
		return "No sandbox holds what runs: " + f.Cause() + "."
	case f.Found.Report.Weaker:
		return "The sandbox is " + f.Found.Report.Name + ", which is weaker."
	}
	return ""
}

// hold is what holds the tools of a policy.
func (f *Sandbox) hold(conf *config.Policy) (toolbox.Hold, error) {
	h, err := f.looked(conf)
	if err != nil || h.Runner == nil {
		return h, err
	}
	return h, makeCaches(conf, h.Profile)
}

// looked is hold for somebody who only looks: nothing is made.
func (f *Sandbox) looked(conf *config.Policy) (toolbox.Hold, error) {
	if f.missing != nil {
		if conf.OS.Require {
			return toolbox.Hold{}, unusable(conf, f.missing)
		}
		return toolbox.Hold{}, nil
	}
	s := setting(f.setup, conf)
	s.ByName = f.Found.Stage != nil || f.proxied()
	profile, err := conf.Profile(s)
	if err != nil {
		return toolbox.Hold{}, err
	}
	return toolbox.Hold{
		Runner: f.Found.Runner, Profile: profile, Serve: f.serve, Steps: f.steps && !conf.OS.Require,
		Stage: f.Found.Stage, Proxy: f.proxied(),
	}, nil
}

// Notice is what a run says once about what the sandbox lacks.
func (f *Sandbox) Notice() string {
	if text := f.Footer(); text != "" || f == nil || !f.proxied() {
		return text
	}
	return "Commands have a proxy instead of a network of their own, so programs that know no proxies cannot connect: " +
		present.SafeLine(f.Found.NoStage.Error()) + "."
}

// proxied reports whether commands are given a proxy, because no stage can be made for them.
func (f *Sandbox) proxied() bool { return f.Found.NoStage != nil && f.Found.Report.Name == bwrap.Name }

// makeCaches makes the folders that programs are given to cache in.
func makeCaches(conf *config.Policy, p sandbox.Profile) error {
	if len(conf.OS.Extra.Caches) == 0 && !conf.OS.Home.Tools {
		return nil
	}
	for _, r := range p.Roots {
		if r.Guarded || r.Mode != sandbox.ModeReadWrite {
			continue
		}
		if err := os.MkdirAll(r.Path, 0o700); err != nil {
			return fmt.Errorf("making a cache folder (%s): %w", r.Source, err)
		}
	}
	if conf.OS.Home.Tools {
		home.Fill(p)
	}
	return nil
}

// Close ends what the sandbox keeps running.
func (f *Sandbox) Close() error {
	if f == nil {
		return nil
	}
	return f.Found.Close()
}

// A Profile is what commands may reach, and what it was made from.
type Profile struct {
	sandbox.Profile
	// Denied is what rules deny among the files as they are now.
	Denied toolbox.Found
}

// CommandProfile derives the profile of commands, with what the policy's rules and the kept
// ones deny. It makes nothing. Secrets are looked for where commands run unasked because
// they are held, or if they are wanted.
func (b *Base) CommandProfile(secrets bool) (Profile, error) {
	profile, err := b.Policy.Profile(setting(b.Setup, b.Policy))
	if err != nil {
		return Profile{}, err
	}
	found, err := b.denied(secrets || b.Shell.Default.WhenSandboxed != "", toolbox.Guarded(profile))
	if err != nil && !errors.Is(err, os.ErrNotExist) { // a root that is not there is told when something runs
		return Profile{}, err
	}
	if b.Sandbox != nil && !b.Sandbox.Missing() && (b.Sandbox.Found.Stage != nil || b.Sandbox.proxied()) {
		profile.Network = profile.Network.Staged()
	}
	return Profile{Profile: found.Apply(profile).Sorted(), Denied: found}, nil
}

// denied looks for what rules deny in all that commands see.
func (b *Base) denied(secrets bool, folders []string) (toolbox.Found, error) {
	set, err := roots.New(roots.Options{Secrets: b.Secrets}, b.Policy.Roots...)
	if err != nil {
		return toolbox.Found{}, err
	}
	found, err := toolbox.Search(set, slices.Concat(b.Rules.Rules(), b.Kept), secrets, folders...)
	return found, errors.Join(err, set.Close())
}

// Sandboxed finds a sandbox that holds a profile to run one command in, and makes the caches
// that the policy gives it. With named, a stage is looked for too.
func (b *Base) Sandboxed(ctx context.Context, p sandbox.Profile, named bool) (detect.Found, error) {
	if err := makeCaches(b.Policy, p); err != nil {
		return detect.Found{}, err
	}
	options, err := detectOptions()
	if err != nil {
		return detect.Found{}, err
	}
	_ = os.MkdirAll(b.Places.State, 0o700) // without it nothing is kept, and all works
	options.First, options.Kept = true, keptFile(b.Places)
	if named && !p.Network.Off() {
		options.Stage = stageHelper(options)
	}
	found, err := detect.Detect(ctx, options, onlyThere(p))
	if err != nil {
		return found, unusable(b.Policy, err)
	}
	return found, nil
}

// GateOnly are the denies that only the gate holds: those about something else than files,
// those about changing files that are not there yet, and a root's word on deleting, which
// no sandbox tells from writing.
func (b *Base) GateOnly() []sandbox.Entry {
	var out []sandbox.Entry
	for _, r := range slices.Concat(b.Rules.Rules(), b.Kept) {
		if r.Effect == policy.EffectDeny && toolbox.HeldByGate(r) {
			out = append(out, sandbox.Entry{Path: r.String(), Source: r.Source})
		}
	}
	for _, r := range b.Policy.Roots {
		blocked := func(a roots.Access) bool { v, said := r.Approval[a]; return said && v == policy.VerdictBlock }
		both := blocked(roots.AccessWrite) == blocked(roots.AccessDelete)
		if r.Mode != roots.ModeReadWrite || blocked(roots.AccessRead) || both {
			continue
		}
		what := "write: deny in root "
		if blocked(roots.AccessDelete) {
			what = "delete: deny in root "
		}
		out = append(out, sandbox.Entry{Path: what + r.Name, Source: r.Source})
	}
	for _, r := range b.Shell.Rules {
		if r.Approval == tool.WordDeny {
			out = append(out, sandbox.Entry{Path: "shell: deny " + r.Pattern, Source: r.Source})
		}
	}
	return out
}
