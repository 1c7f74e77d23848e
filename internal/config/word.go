package config

import (
	"github.com/goccy/go-yaml/ast"

	"github.com/assent-dev/assent/tool"
)

// A said is what a file says about consent at one place.
type said struct {
	word   tool.Word
	reason string
	node   ast.Node // where it stands; nil if nothing is said
}

// word reads approval as a word or a bool.
func (r *report) word(n ast.Node, what string) said {
	switch v := n.(type) {
	case *ast.BoolNode:
		return said{word: tool.WordFor(v.Value), node: n}
	case *ast.StringNode:
		w, err := tool.ParseWord(v.Value)
		if err != nil {
			r.problem(n, "%s: %v", what, err)
		}
		return said{word: w, node: n}
	}
	r.problem(n, "%s must be allow, ask or deny, not %s", what, kindOf(n))
	return said{word: tool.WordDeny, node: n}
}

// consent reads what a mapping says about consent.
func (o *object) consent(what string) said {
	var out said
	if n, ok := o.take("approval"); ok {
		o.agree(&out, o.word(n, what+": approval"), what)
	}
	o.spelledConsent(&out, what)
	out.reason = o.reason(out, what)
	return out
}

func (r *report) agree(have *said, more said, what string) {
	if have.node != nil && have.word != more.word {
		r.problem(more.node, "%s: this says %s, and line %d says %s; keep one", what, more.word,
			have.node.GetToken().Position.Line, have.word)
	}
	if have.node == nil {
		*have = more
	}
}

func (o *object) reason(s said, what string) string {
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
