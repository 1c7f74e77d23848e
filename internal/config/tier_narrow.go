package config

import (
	"maps"
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
	out := sandbox.Network{On: have.On, ByName: !have.On, Source: more.Source, Deny: more.Deny, Lines: maps.Clone(more.Lines)}
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
