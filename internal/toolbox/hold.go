package toolbox

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/network"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/stage"
	"github.com/assent-dev/assent/tool/hosts"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell"
)

// A Hold is what holds everything that the tools of a box start and do. The zero Hold
// holds nothing.
type Hold struct {
	// Runner holds processes to Profile. Nil if there is none: then commands run
	// without a sandbox.
	Runner sandbox.Runner
	// Profile is what the policy lets commands reach. Files that rules deny are added
	// when a box is opened.
	Profile sandbox.Profile
	// Serve is the command line of a copy of this program that serves the file tools
	// inside; none means that they work in this process.
	Serve []string
	// Stage is the command line of a process that makes stages; none means that commands
	// cannot be given a network of their own. Proxy then says that commands of the shell tool
	// have a proxy in its place.
	Stage []string
	Proxy bool
	// Steps says that a person may be asked to let a command reach further.
	Steps bool
}

// held reports whether there is something that holds.
func (h Hold) held() bool { return h.Runner != nil }

// digest names the profile; zero if nothing holds to it.
func (h Hold) digest() policy.Digest {
	if !h.held() {
		return policy.Digest{}
	}
	return policy.Digest(h.Profile.Hash())
}

// hold finds what holds the tools of the box. A child is held to its caller's profile too.
func (b *Box) hold(opts Options) (err error) {
	if opts.Hold == nil {
		return nil
	}
	if b.Hold, err = opts.Hold(b.Policy); err != nil || !b.Hold.held() {
		return err
	}
	rules := slices.Concat(b.Policy.Rules.Rules(), opts.Rules)
	found, err := Search(b.Roots, rules, b.hidesSecrets(rules), Guarded(b.Hold.Profile)...)
	if err != nil {
		return err
	}
	if found.Unfinished != "" {
		b.warn("%s", found.Unfinished)
	}
	b.Hold.Profile = found.Apply(b.Hold.Profile)
	if b.parent != nil && b.parent.Hold.held() {
		b.Hold.Profile = b.Hold.Profile.Intersect(b.parent.Hold.Profile)
		found.GateOnly = slices.Concat(found.GateOnly, b.parent.found.GateOnly)
	}
	if through, ok := b.Hold.Runner.(stage.Through); ok && len(b.Hold.Stage) > 0 {
		b.Hold.Runner = network.New(through, b.Hold.Stage, b.hosts(b.Policy), opts.Dialer)
		b.Hold.Profile.Network = b.Hold.Profile.Network.Staged()
	}
	b.Hold.Profile = b.Hold.Profile.Sorted()
	b.found = found
	if len(b.Hold.Serve) > 0 && !opts.Looking {
		b.inside = &sandboxedFiles{hold: b.Hold}
	}
	if needs := b.Hold.Runner.Needs(b.Hold.Profile); len(needs) > 0 {
		return fmt.Errorf("%w: %s", sandbox.ErrNotHeld, strings.Join(needs, "; "))
	}
	return nil
}

// hosts is what the tools of a policy may reach in this box. What its callers refuse is refused.
func (b *Box) hosts(conf *config.Policy) hosts.Policy {
	p := conf.Shell.Network
	for caller := b.parent; caller != nil; caller = caller.parent {
		p = p.Intersect(caller.Policy.Shell.Network)
	}
	p.Staged, p.Own, p.Public = len(b.Hold.Stage) > 0 || b.Hold.Proxy, network.Own(), network.Public
	return p
}

// Guarded are the folders of a profile in which people keep files of their own: not caches.
func Guarded(p sandbox.Profile) []string {
	var out []string
	for _, r := range p.Roots {
		if r.Guarded {
			out = append(out, r.Path)
		}
	}
	return out
}

// hidesSecrets reports whether commands may run from which secrets are hidden.
func (b *Box) hidesSecrets(rules []policy.Rule) bool {
	code := func(r policy.Rule) bool { return strings.HasPrefix(r.Pattern, policy.ActProjectCode) }
	presets := slices.ContainsFunc(b.Policy.Shell.Rules, func(r shell.Rule) bool { return r.Preset != "" })
	return presets || slices.ContainsFunc(rules, code) || b.Policy.Shell.Default.WhenSandboxed != ""
}

// landlockName is the runner that is weaker than the others.
const landlockName = "landlock"

// autoAllow says whether commands may run only because they are held.
func (b *Box) autoAllow(conf *config.Policy) shell.AutoAllow {
	not := func(format string, args ...any) shell.AutoAllow {
		return shell.AutoAllow{Not: fmt.Sprintf(format, args...)}
	}
	switch {
	case !b.Hold.held():
		return not("no sandbox for commands works here")
	case len(b.Hold.Profile.Sockets) > 0:
		return not("commands may use the socket %s (%s)", b.Hold.Profile.Sockets[0].Path,
			b.Hold.Profile.Sockets[0].Source)
	case b.Hold.Runner.Name() == landlockName:
		return not("Landlock alone holds neither modes nor times of files outside of the roots")
	case b.found.Unfinished != "":
		return not("%s", b.found.Unfinished)
	}
	var alone shell.AutoAllow
	for _, r := range conf.Roots {
		if len(r.Suffixes) > 0 {
			return not("root %s has files that no tool may reach: it takes only %v (%s)", r.Name, r.Suffixes, r.Source)
		}
		if access := notFree(r); access != "" && alone.Asks == "" {
			alone.Asks = fmt.Sprintf("root %s does not allow to %s without asking (%s)", r.Name, access, r.Source)
		}
	}
	if open := b.found.GateOnly; len(open) > 0 {
		alone.Open = "everything that a rule denies: " + open[0].Path + " (" + open[0].Source + ")"
	}
	return alone
}

// notFree is what a root does not let tools do without asking, if there is something.
func notFree(r roots.Root) roots.Access {
	for _, access := range []roots.Access{roots.AccessRead, roots.AccessWrite, roots.AccessDelete} {
		v, said := r.Approval[access]
		free := said && v == policy.VerdictFree || !said && access == roots.AccessRead
		if !free || access != roots.AccessRead && r.Mode != roots.ModeReadWrite {
			return access
		}
	}
	return ""
}
