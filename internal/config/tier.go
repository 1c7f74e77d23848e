package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/assent-dev/assent/internal/realpath"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool/command"
	"github.com/assent-dev/assent/tool/roots"
)

// A TierKind is whose word a file is.
type TierKind string

// The tiers, in their order: a deny of any holds, otherwise the last that speaks wins.
const (
	BuiltIn       TierKind = "built-in"      // for what no file speaks about
	Administrator TierKind = "administrator" // /etc/assent/policy.yaml
	TeamTier      TierKind = "team"          // the signed policy of the team
	UserTier      TierKind = "user"          // config.yaml
	Project       TierKind = "project"       // a worker file or .assent/policy.yaml
	Operator      TierKind = "operator"      // -c FILE, which replaces discovery
)

// A Tier is the policy of one file, and whose word it is.
type Tier struct {
	Kind   TierKind
	Policy *Policy
	// Trusted says that the file may widen. A project's file may only once the user has
	// said so, and the team's policy only while it is not too old; the others are always trusted.
	Trusted bool
}

func (t Tier) trusted() bool { return t.Trusted || t.Kind != Project && t.Kind != TeamTier }

// An Effective policy is what all tiers say together. Each part of it names in its Source
// the file and line that it comes from.
type Effective struct {
	*Policy
	Tiers []Tier
	// Ignored is what an untrusted file wants and does not get, for the person who may
	// trust it.
	Ignored []string
	// Stale is what the policy of the team allows, and what does not count while it is too old.
	Stale []string
}

// Combine puts the tiers together, from the first to the last. Resolve returns a path
// without symbolic links, as in [Setting]; nil takes paths as they are written.
func Combine(resolve func(string) (string, error), tiers ...Tier) (*Effective, error) {
	if resolve == nil {
		resolve = func(p string) (string, error) { return filepath.Clean(p), nil }
	}
	c := &combination{resolve: remembering(resolve), policy: Policy{Secrets: roots.DefaultSecrets()}}
	seen := map[string]bool{}
	for _, t := range tiers {
		if seen[t.Policy.File] {
			return nil, fmt.Errorf("two files are called %s, and an exception of one would lift denies of the other; "+
				"rename one", t.Policy.File)
		}
		seen[t.Policy.File] = true
		if err := c.add(t); err != nil {
			return nil, err
		}
	}
	p := &c.policy
	p.Shell.Network = p.OS.hosts()
	err := c.noteNames(slices.DeleteFunc(slices.Clone(p.Roots), c.isDefault))
	if err == nil {
		err = c.fillDefaults()
	}
	if err != nil {
		return nil, err
	}
	if p.Rules, err = policy.CompileRules(c.rules); err != nil {
		return nil, err
	}
	return &Effective{Policy: p, Tiers: tiers, Ignored: c.ignored, Stale: c.stale}, nil
}

// remembering resolves each path once: a combination compares every root with every other.
func remembering(resolve func(string) (string, error)) func(string) (string, error) {
	known := map[string]string{}
	return func(path string) (string, error) {
		if real, ok := known[path]; ok {
			return real, nil
		}
		real, err := resolve(path)
		if err == nil {
			known[path] = real
		}
		return real, err
	}
}

// A combination is one under way.
type combination struct {
	resolve func(string) (string, error)
	policy  Policy
	rules   []policy.Rule
	ignored []string
	stale   []string // the same of the team's policy
	// defaults are the roots of the built-in tier, as they were given.
	defaults []roots.Root
}

// isDefault reports whether a root is one that no file speaks of by its name.
func (c *combination) isDefault(r roots.Root) bool {
	return slices.ContainsFunc(c.defaults, func(d roots.Root) bool { return d.Name == r.Name && d.Source == r.Source })
}

// ignore notes what an untrusted file does not get.
func (c *combination) ignore(source, format string, args ...any) {
	c.ignored = append(c.ignored, source+": "+fmt.Sprintf(format, args...))
}

func (c *combination) warn(p *Policy, format string, args ...any) {
	c.policy.Warnings = append(c.policy.Warnings,
		Problem{File: p.File, Line: 1, Column: 1, Text: fmt.Sprintf(format, args...)})
}

func (c *combination) add(t Tier) error {
	p := t.Policy
	c.policy.File = p.File
	c.policy.Warnings = slices.Concat(c.policy.Warnings, p.Warnings)
	c.policy.Notes = slices.Concat(c.policy.Notes, p.Notes)
	c.policy.Expect = slices.Concat(c.policy.Expect, p.Expect)
	if p.Team.Source != "" && t.Kind != Administrator {
		c.warn(p, "%s is left out: only the administrator's file names a team", p.Team.Source)
	}
	if !t.trusted() && t.Kind == TeamTier {
		project := c.ignored
		c.ignored = nil
		err := c.narrow(p)
		c.stale, c.ignored = c.ignored, project
		return err
	}
	if !t.trusted() {
		return c.narrow(p)
	}
	if t.Kind == BuiltIn {
		c.defaults = p.Roots
	}
	if err := c.addRoots(p.Roots); err != nil {
		return err
	}
	c.policy.Secrets = slices.Concat(c.policy.Secrets, p.Secrets[len(roots.DefaultSecrets()):])
	c.addOS(t)
	c.addShell(p, p.Shell, nil)
	c.policy.HasShell = c.policy.HasShell || p.HasShell
	c.policy.Tools.Tools = slices.Concat(p.Tools.Tools, c.policy.Tools.Tools)
	c.policy.CustomTools = replacing(c.policy.CustomTools, p.boundTools(), func(t command.Config) string { return t.Name })
	c.policy.Connectors = replacing(c.policy.Connectors, p.Connectors, func(t Connector) string { return t.Name })
	c.rules = slices.Concat(c.rules, p.Rules.Rules())
	if p.UndoSource != "" {
		c.policy.UndoOff, c.policy.UndoSource = p.UndoOff, p.UndoSource
	}
	return nil
}

// boundTools are the custom tools of the file, each bound to the programs that were trusted.
func (p *Policy) boundTools() []command.Config {
	out := slices.Clone(p.CustomTools)
	for i := range out {
		out[i].Trusted = p.Trusted
	}
	return out
}

// replacing returns both lists, with those of more in place of those of the same name.
func replacing[T any](have, more []T, name func(T) string) []T {
	out := slices.Clone(have)
	for _, m := range more {
		if i := slices.IndexFunc(out, func(h T) bool { return name(h) == name(m) }); i >= 0 {
			out[i] = m
		} else {
			out = append(out, m)
		}
	}
	return out
}

// addOS adds what a trusted file says about the system's sandbox.
func (c *combination) addOS(t Tier) {
	have, more := &c.policy.OS, t.Policy.OS
	if more.Network.Source != "" {
		if isOff(have.Network) && !isOff(more.Network) {
			c.warn(t.Policy, "%s turns the network on, which %s denies", more.Network.Source, have.Network.Source)
		} else {
			have.Network = withDenies(more.Network, have.Network)
		}
	}
	if more.Require && !have.Require {
		have.Require, have.RequireSource = true, more.RequireSource
	}
	if more.GitWriteSource != "" {
		have.GitWrite, have.GitWriteSource = more.GitWrite, more.GitWriteSource
	}
	if more.Home.Source != "" {
		if have.Home.Source != "" && !have.Home.Tools && more.Home.Tools {
			c.warn(t.Policy, "%s shows tools of the home folder, which %s keeps private", more.Home.Source,
				have.Home.Source)
		} else {
			have.Home = more.Home
		}
	}
	if t.Kind == Project {
		if e := more.Extra; len(e.Read)+len(e.Write)+len(e.Sockets)+len(e.Caches) > 0 {
			c.warn(t.Policy, "sandbox.extra is left out: only the user's own config may widen the sandbox")
		}
		return
	}
	have.Extra.Read = slices.Concat(have.Extra.Read, more.Extra.Read)
	have.Extra.Write = slices.Concat(have.Extra.Write, more.Extra.Write)
	have.Extra.Sockets = slices.Concat(have.Extra.Sockets, more.Extra.Sockets)
	have.Extra.Caches = slices.Concat(have.Extra.Caches, more.Extra.Caches)
}

// withDenies returns what one file says about the network, with the hosts that another denies
// as well.
func withDenies(n, other sandbox.Network) sandbox.Network {
	n.Deny, n.Lines = slices.Clone(n.Deny), maps.Clone(n.Lines)
	for _, host := range other.Deny {
		if slices.Contains(n.Deny, host) {
			continue
		}
		n.Deny = append(n.Deny, host)
		if n.Lines == nil {
			n.Lines = map[string]string{}
		}
		n.Lines["deny "+host] = other.Lines["deny "+host]
	}
	return n
}

// isOff reports whether a file denies the network, and does not just say nothing.
func isOff(n sandbox.Network) bool { return n.Source != "" && n.Off() }

// A Configuration is all that holds for a run, a hook or a gateway.
type Configuration struct {
	*Effective
	// User are the user's defaults, never nil.
	User *User
	// Worker is the worker that runs; nil if there is none.
	Worker *Worker
	// Files are the paths of the files that were read. No tool may write them.
	Files []string
	// Newer returns the rules as they are now; nil if they stay: see [Configuration.Follow].
	Newer func() (*policy.RuleSet, error)
}

// MissingRoots are the roots that may be written and do not exist, under all their names.
// They are made when a run starts, and never before its file is trusted.
func (p *Policy) MissingRoots() []roots.Root {
	var out []roots.Root
	folders, err := sameFolders(p.Roots, realpath.Resolve)
	if err != nil {
		return nil // opening the roots says so
	}
	for _, names := range folders {
		if !slices.ContainsFunc(names, func(i int) bool { return p.Roots[i].Mode == roots.ModeReadWrite }) {
			continue
		}
		for _, i := range names {
			if _, err := os.Stat(p.Roots[i].Host); os.IsNotExist(err) {
				out = append(out, p.Roots[i])
			}
		}
	}
	return out
}

// StandIns returns the policy with empty folders, made below dir, in place of those that do
// not exist yet: one folder for all its names, and one in another where they will be.
func (p *Policy) StandIns(dir string) (*Policy, error) {
	out := *p
	out.Roots = slices.Clone(p.Roots)
	for i := range out.Roots {
		r := &out.Roots[i]
		if _, err := os.Stat(r.Host); !os.IsNotExist(err) {
			continue
		}
		real, err := realpath.Resolve(r.Host)
		if err != nil {
			return nil, err
		}
		r.Host = filepath.Join(dir, "roots", real)
		if err := os.MkdirAll(r.Host, 0o700); err != nil {
			return nil, err
		}
	}
	return &out, nil
}
