package config

import (
	"github.com/goccy/go-yaml/ast"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// allTools reads what the file says about tools by name, in all the places where it may.
func (r *report) allTools(o *object, p *Policy) {
	if n, ok := o.take("custom_tools"); ok {
		p.CustomTools = r.customTools(n)
		for _, c := range p.CustomTools {
			if c.Approval != "" {
				r.say(p, n, tool.Named{Name: c.Name, Approval: c.Approval, Reason: c.Reason, Source: c.Source})
			}
		}
	}
	if n, ok := o.take("tools"); ok {
		r.tools(n, "tools", p)
	}
	o.spelledTools(p)
}

// say adds what is said about a tool. Two places of a file may not disagree about a name.
func (r *report) say(p *Policy, at ast.Node, more tool.Named) {
	for _, have := range p.Tools.Tools {
		if have.Name == more.Name && have.Approval != "" && more.Approval != "" && have.Approval != more.Approval {
			r.problem(at, "tool %s: this says %s, and %s says %s; keep one", more.Name, more.Approval, have.Source, have.Approval)
		}
	}
	p.Tools.Tools = append(p.Tools.Tools, more)
}

// tools reads the operator's word on tools by name, in the order of the file.
func (r *report) tools(n ast.Node, what string, p *Policy) {
	for _, e := range r.entries(n, what) {
		s := r.object(e.value, what+"."+e.name, toolsShape.values).consent(what + "." + e.name)
		if _, err := policy.CompileName(policy.EffectDeny, e.name); err != nil {
			r.problem(e.key, "%v", err)
		}
		r.toolName(e.key, what, e.name, p)
		r.say(p, e.key, tool.Named{Name: e.name, Approval: s.word, Reason: s.reason, Source: r.source(e.key)})
	}
}
