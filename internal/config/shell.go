package config

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell"
	"github.com/assent-dev/assent/tool/shell/runner"
)

// shell reads the operator's word on commands.
func (r *report) shell(n ast.Node, p *Policy) {
	o := r.object(n, "shell", shellShape)
	c := &p.Shell
	p.HasShell = true
	var presets []shell.Rule
	if n, ok := o.take("presets"); ok {
		c.Readonly, presets = r.presets(n)
	}
	rules := valueAt(o, "rules", r.items, "shell.rules")
	for _, item := range rules {
		c.Rules = append(c.Rules, r.shellRule(item))
	}
	if n, ok := o.take("default"); ok {
		c.Default = r.shellDefault(n)
	}
	if n, ok := o.take("env"); ok {
		c.Env = r.texts(n, "shell.env")
		r.checkEnv(n, c.Env)
	}
	if n, ok := o.take("cwd"); ok {
		c.Cwd, c.Source = r.text(n, "shell.cwd"), r.source(n)
	}
	if n, ok := o.take("judge"); ok {
		switch text := r.text(n, "shell.judge"); text {
		case "before":
		case "running":
			c.Running = true
		default:
			r.problem(n, "shell.judge: %q: it is before or running", text)
		}
		c.JudgeSource = r.source(n)
	}
	c.Hold = valueAt(o, "hold", r.duration, "shell.hold")
	o.spelledNetwork(&p.OS.Network)
	r.pointless(rules, p)
	c.Rules = append(c.Rules, presets...)
}

func (r *report) checkEnv(n ast.Node, names []string) {
	for _, name := range names {
		if !runner.MayPass(name) {
			r.problem(n, "shell.env: %q cannot be passed on: it is not a variable name, or it makes programs run "+
				"other code", name)
		}
	}
}

// presets reads the names of lists of rules.
func (r *report) presets(n ast.Node) (readonly bool, rules []shell.Rule) {
	for _, item := range r.items(n, "shell.presets") {
		name := r.text(item, "a preset")
		more, ok := shell.PresetRules(name, r.source(item))
		if !ok {
			r.problem(item, "unknown preset %q; there are %s", name, strings.Join(shell.PresetNames(), ", "))
		}
		readonly = readonly || name == shell.ReadonlyPreset
		rules = append(rules, more...)
	}
	return readonly, rules
}

func (r *report) shellRule(n ast.Node) shell.Rule {
	o := r.object(n, "a shell rule", shellRuleShape)
	rule := shell.Rule{Source: r.source(n)}
	at, ok := o.take("pattern")
	if ok {
		rule.Pattern = r.text(at, "pattern")
	}
	rule.Description = valueAt(o, "description", r.text, "description")
	rule.Paths = valueAt(o, "sandbox_paths", r.texts, "sandbox_paths")
	s := o.consent("a shell rule")
	rule.Approval, rule.Reason = s.word, s.reason
	if rule.Approval == "" {
		rule.Approval = tool.WordAsk // listed, and nothing said: the careful word
	}
	if rule.Pattern != "" {
		if err := rule.Check(); err != nil {
			r.problem(at, "pattern %q: %v", rule.Pattern, err)
		}
	}
	return rule
}

// shellDefault reads what holds for commands that nothing names.
func (r *report) shellDefault(n ast.Node) shell.Default {
	d := shell.Default{Source: r.source(n)}
	o := r.object(n, "shell.default", shellDefaultShape)
	if n, ok := o.take("approval"); ok {
		if text, isText := n.(*ast.StringNode); isText && text.Value == "by_effect" {
			delete(o.fields, "approval")
			d.ByEffect = true
		}
	}
	if n, ok := o.take("when_sandboxed"); ok {
		d.WhenSandboxed = r.whenSandboxed(n)
	}
	s := o.consent("shell.default")
	d.Approval, d.Reason = s.word, s.reason
	if d.ByEffect && d.Approval != "" {
		r.problem(s.node, "shell.default: by_effect and %s; keep one", d.Approval)
	}
	if d.WhenSandboxed != "" && (d.Approval == tool.WordDeny || d.Approval == tool.WordAllow) {
		r.problem(n, "shell.default: when_sandboxed: allow is for a default that asks, and this one says %s", d.Approval)
	}
	return d
}

// whenSandboxed reads what holds for a command that a sandbox holds.
func (r *report) whenSandboxed(n ast.Node) tool.Word {
	switch text := r.text(n, "shell.default.when_sandboxed"); text {
	case "allow":
		return tool.WordAllow
	case "ask":
	default:
		r.problem(n, "shell.default.when_sandboxed: %q: it is allow or ask", text)
	}
	return ""
}

// pointless warns of rules that can never decide: another hides them, or they name a root
// that is not there.
func (r *report) pointless(nodes []ast.Node, p *Policy) {
	hidden := p.Shell.Hidden()
	for i, rule := range p.Shell.Rules {
		for j, text := range hidden {
			if why, ok := strings.CutPrefix(text, rule.Source+": "); ok {
				r.warn(nodes[i], "%s", why)
				hidden = slices.Delete(hidden, j, j+1)
				break
			}
		}
		for _, name := range rule.Paths {
			if !slices.ContainsFunc(p.Roots, func(root roots.Root) bool { return root.Name == name }) {
				r.warn(nodes[i], "sandbox_paths names %q, which is not a root; the rule for %q never applies", name,
					rule.Pattern)
			}
		}
	}
}
