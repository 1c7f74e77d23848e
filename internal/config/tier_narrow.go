package config

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell"
)

// narrow adds an untrusted file: it turns allow into ask or deny, and nothing else.
func (c *combination) narrow(p *Policy) error {
	if err := c.narrowRoots(p.Roots); err != nil {
		return err
	}
	for _, s := range p.Secrets[len(roots.DefaultSecrets()):] {
		if strings.HasPrefix(s, "!") {
			c.ignore(p.File, "the secrets that it excepts: %s", s)
			continue
		}
		c.policy.Secrets = append(slices.Clone(c.policy.Secrets), s)
	}
	c.narrowOS(p)
	c.narrowShell(p)
	switch {
	case p.UndoOff:
		c.ignore(p.UndoSource, "undo: off")
	case p.UndoSource != "":
		c.policy.UndoOff, c.policy.UndoSource = false, p.UndoSource
	}
	var named []tool.Named
	for _, t := range p.Tools.Tools {
		if t.Approval == tool.WordAllow {
			c.ignore(t.Source, "tool %s: allow", t.Name)
			continue
		}
		if t.Approval == tool.WordOnce {
			t.Approval = tool.WordAsk
		}
		named = append(named, t)
	}
	c.policy.Tools.Tools = slices.Concat(named, c.policy.Tools.Tools)
	for _, r := range p.Rules.Rules() {
		if r.Effect == policy.EffectAllow {
			c.ignore(r.Source, "rule: %s", r)
			continue
		}
		c.rules = append(c.rules, r)
		if err := c.placeRule(r, p.Roots); err != nil {
			return err
		}
	}
	for _, t := range p.CustomTools {
		c.ignore(t.Source, "custom tool %s", t.Name)
	}
	for _, t := range p.Connectors {
		c.ignore(t.Source, "connector %s", t.Name)
	}
	return nil
}

func (c *combination) narrowOS(p *Policy) {
	have, more := &c.policy.OS, p.OS
	if more.Require && !have.Require {
		have.Require, have.RequireSource = true, more.RequireSource
	}
	if more.GitWriteSource != "" {
		if more.GitWrite {
			c.ignore(more.GitWriteSource, "git_write")
		} else {
			have.GitWrite, have.GitWriteSource = false, more.GitWriteSource
		}
	}
	if more.Home.Source != "" {
		if more.Home.Tools {
			c.ignore(more.Home.Source, "home: %s", homeTools)
		} else {
			have.Home = more.Home
		}
	}
	if e := more.Extra; len(e.Read)+len(e.Write)+len(e.Sockets)+len(e.Caches) > 0 {
		c.ignore(p.File, "sandbox.extra")
	}
	if more.Network.Source != "" {
		have.Network = c.narrowNetwork(have.Network, more.Network)
	}
}

// narrowNetwork keeps of the hosts that are free those that the file names too, and adds those
// that it denies.
func (c *combination) narrowNetwork(have, more sandbox.Network) sandbox.Network {
	if have.Off() { // said or not
		if !isOff(more) {
			c.ignore(more.Source, "the network")
		}
		return withDenies(have, more)
	}
	if isOff(more) {
		return withDenies(more, have)
	}
	// Where only listed hosts were free, others ask; that gives no process a network by itself.
	out := sandbox.Network{On: have.On, ByName: !have.On, Source: more.Source, Deny: more.Deny,
		Lines: maps.Clone(more.Lines)}
	for _, host := range more.Domains {
		both := sandbox.CommonHosts([]string{host}, have.Domains)
		for _, narrower := range both {
			if !slices.Contains(out.Domains, narrower) {
				out.Domains = append(out.Domains, narrower)
				out.Lines["allow "+narrower] = more.Lines["allow "+host]
			}
		}
		if !slices.Equal(both, []string{host}) {
			c.ignore(more.Source, "the host %s", host)
		}
	}
	return withDenies(out, have)
}

func (c *combination) narrowShell(p *Policy) {
	if !p.HasShell {
		return
	}
	if !c.policy.HasShell {
		c.ignore(p.File, "the shell")
	}
	var narrowed shell.Config
	var presets []string
	for _, r := range p.Shell.Rules {
		switch r.Approval {
		case tool.WordAllow:
			switch {
			case r.Preset == "":
				c.ignore(r.Source, "shell rule %q: allow", r.Pattern)
			case !slices.Contains(presets, r.Preset):
				presets = append(presets, r.Preset)
				c.ignore(p.File, "the preset %s", r.Preset)
			}
			continue
		case tool.WordOnce:
			r.Approval = tool.WordAsk
		}
		r.Description = "" // it would speak for the person's own config
		narrowed.Rules = append(narrowed.Rules, r)
	}
	if p.Shell.Readonly {
		c.ignore(p.File, "the preset readonly")
	}
	if p.Shell.Running {
		c.ignore(p.Shell.JudgeSource, "judge: running")
	} else {
		narrowed.JudgeSource = p.Shell.JudgeSource
	}
	d := p.Shell.Default
	if d.WhenSandboxed != "" {
		c.ignore(d.Source, "when_sandboxed: allow")
		d.WhenSandboxed = ""
	}
	switch {
	case d.ByEffect, d.Approval == tool.WordAllow:
		c.ignore(d.Source, "the default for commands")
	case d.Approval == tool.WordOnce:
		d.Approval = tool.WordAsk
		fallthrough
	default:
		narrowed.Default = d
	}
	narrowed.Readonly = p.Shell.Readonly && narrowed.Default.Approval == tool.WordDeny
	c.addShell(p, narrowed, append([]shell.Rule{}, p.Shell.Rules...))
}

// narrowRoots makes the roots that are there as strict as an untrusted file wants them,
// and adds none.
func (c *combination) narrowRoots(more []roots.Root) error {
	for i := range more {
		r := &more[i]
		reached := false
		for j := range c.policy.Roots {
			met, err := c.narrowRoot(&c.policy.Roots[j], r)
			if err != nil {
				return err
			}
			reached = reached || met
		}
		if !reached {
			c.ignore(r.Source, "root %s: %s", r.Name, r.Host)
		}
	}
	return nil
}

// narrowRoot applies what an untrusted file says about a place to a root at it, below it
// or around it. Around it a denial holds for the place alone; an ask, which no rule can
// say, for the whole root.
func (c *combination) narrowRoot(have, by *roots.Root) (met bool, err error) {
	covered, err := c.within(have.Host, by.Host)
	if err != nil {
		return false, err
	}
	if covered {
		*have = restricted(*have, func(a roots.Access) (policy.Verdict, bool) { return wanted(by, a) }, by)
		return true, nil
	}
	around, err := c.within(by.Host, have.Host)
	if err != nil || !around {
		return false, err
	}
	*have = restricted(*have, func(a roots.Access) (policy.Verdict, bool) {
		v, said := wanted(by, a)
		return v, said && v == policy.VerdictAsk
	}, by)
	return true, c.denyPlace(by)
}

// wanted is what an untrusted file says about an access; a root that is read-only in so
// many words denies changes.
func wanted(r *roots.Root, a roots.Access) (policy.Verdict, bool) {
	if r.Mode == roots.ModeReadOnly && a != roots.AccessRead {
		return policy.VerdictBlock, true
	}
	v, said := r.Approval[a]
	return v, said && v != policy.VerdictFree
}

// denyPlace adds rules that deny what an untrusted file denies at a place.
func (c *combination) denyPlace(r *roots.Root) error {
	names := map[roots.Access]string{roots.AccessRead: policy.ActReadFile, roots.AccessWrite: policy.ActWriteFile,
		roots.AccessDelete: policy.ActDeleteFile}
	for _, a := range accesses {
		if v, said := wanted(r, a); !said || v != policy.VerdictBlock {
			continue
		}
		hosts, err := c.spellings(r.Host)
		if err != nil {
			return err
		}
		for _, host := range hosts {
			for _, below := range []string{"", "/**"} {
				like := policy.Rule{ID: r.Source + " " + string(a), Source: r.Source, Because: r.Reason}
				if err := c.addRule(like, "deny "+names[a], host, below); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// spellings are a path as it is written and without links.
func (c *combination) spellings(path string) ([]string, error) {
	real, err := c.resolve(path)
	if err != nil {
		return nil, err
	}
	return slices.Compact([]string{filepath.Clean(path), real}), nil
}

// addRule adds a rule for what lies at a path of the host.
func (c *combination) addRule(like policy.Rule, head, host, below string) error {
	at := literal(strings.TrimSuffix(host, "/")) + below
	rule, err := policy.ParseRule(head + "(" + at + ")")
	if err != nil {
		return err
	}
	rule.Source, rule.Because, rule.ID = like.Source, like.Because, like.ID+" "+at
	c.rules = append(c.rules, rule)
	return nil
}

// placeRule adds to a rule what it means by the names of roots that do not hold: those of an
// untrusted file, or such as another file has taken over. It is the same with the paths of the
// host.
func (c *combination) placeRule(rule policy.Rule, own []roots.Root) error {
	name, target, found := strings.Cut(strings.TrimSuffix(rule.Pattern, ")"), "(")
	if !found || rule.Scope != policy.ScopeTool || !aboutFiles(name) || strings.HasPrefix(target, "/") {
		return nil
	}
	for _, r := range own {
		rest, ok := restBelow(r.Name, target, own)
		if known, err := c.knows(r); err != nil {
			return err
		} else if known || !ok {
			continue
		}
		hosts, err := c.spellings(r.Host)
		if err != nil {
			return err
		}
		for _, host := range hosts {
			if err := c.addRule(rule, string(rule.Effect)+" "+name, host, rest); err != nil {
				return err
			}
		}
	}
	return nil
}

// knows reports whether a root of an earlier file has the name and is the folder.
func (c *combination) knows(r roots.Root) (bool, error) {
	i := slices.IndexFunc(c.policy.Roots, func(have roots.Root) bool { return have.Name == r.Name })
	if i < 0 {
		return false, nil
	}
	return c.same(c.policy.Roots[i].Host, r.Host)
}

// aboutFiles reports whether the name in a rule may be one of an act on files.
func aboutFiles(name string) bool {
	p, err := policy.CompileName(policy.EffectDeny, name)
	acts := []string{policy.ActReadFile, policy.ActWriteFile, policy.ActDeleteFile, policy.ActShareFile}
	return err == nil && slices.ContainsFunc(acts, func(act string) bool { return p.Match("", act) })
}

// restBelow is what the target of a rule says behind the name of a root; not ok if it is
// not about that root. Below the root named "." all names lie that are not another root's.
func restBelow(root, target string, own []roots.Root) (rest string, ok bool) {
	all := ""
	if strings.HasSuffix(target, "/") {
		all = "/"
	}
	target = path.Clean(target)
	first, below, more := strings.Cut(target, "/")
	if root == "." {
		other := func(r roots.Root) bool { return r.Name != "." && r.Name == first }
		return "/" + target + all, first != "**" && !slices.ContainsFunc(own, other)
	}
	if match, err := path.Match(first, root); err != nil || !match || first == "**" {
		return "", false // what begins with ** is about every name
	}
	if more {
		return "/" + below + all, true
	}
	return all, true
}

// literal escapes what a path pattern would take for a glob.
func literal(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`).Replace(path)
}
