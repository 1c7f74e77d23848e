package config

import (
	"github.com/goccy/go-yaml/ast"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// A consent is what a file says about consent at one place.
type consent struct {
	word   tool.Word
	reason string
	node   ast.Node // where it stands; nil if nothing is said
}

// word reads approval as a word or a bool.
func (r *report) word(n ast.Node, what string) consent {
	switch v := n.(type) {
	case *ast.BoolNode:
		return consent{word: tool.WordFor(v.Value), node: n}
	case *ast.StringNode:
		w, err := tool.ParseWord(v.Value)
		if err != nil {
			r.problem(n, "%s: %v", what, err)
		}
		return consent{word: w, node: n}
	}
	r.problem(n, "%s must be allow, ask or deny, not %s", what, kindOf(n))
	return consent{word: tool.WordDeny, node: n}
}

// consent reads what a mapping says about consent.
func (o *object) consent(what string) consent {
	var out consent
	if n, ok := o.take("approval"); ok {
		o.agree(&out, o.word(n, what+": approval"), what)
	}
	o.spelledConsent(&out, what)
	out.reason = o.reason(out, what)
	return out
}

func (r *report) agree(have *consent, more consent, what string) {
	if have.node != nil && have.word != more.word {
		r.problem(more.node, "%s: this says %s, and line %d says %s; keep one", what, more.word,
			have.node.GetToken().Position.Line, have.word)
	}
	if have.node == nil {
		*have = more
	}
}

func (o *object) reason(s consent, what string) string {
	reason := ""
	for _, key := range []string{"reason", blockReason} {
		n, ok := o.take(key)
		if !ok {
			continue
		}
		reason = o.text(n, what+": "+key)
		if s.word != tool.WordDeny {
			o.problem(n, "%s: %s belongs to a deny", what, key)
		}
	}
	return reason
}

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
			r.problem(at, "tool %s: this says %s, and %s says %s; keep one", more.Name, more.Approval, have.Source,
				have.Approval)
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
