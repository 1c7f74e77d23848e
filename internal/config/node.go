package config

import (
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// An object is a mapping that is being read key by key. What was not asked for when it is
// closed is unknown.
type object struct {
	*report
	node   ast.Node
	fields map[string]*ast.MappingValueNode
	order  []string
	asked  []string
}

// object reads a mapping; an absent value is an empty one.
func (r *report) object(n ast.Node, what string) *object {
	o := &object{report: r, node: n, fields: map[string]*ast.MappingValueNode{}}
	switch m := n.(type) {
	case *ast.MappingNode:
		for _, v := range m.Values {
			key, ok := v.Key.(*ast.StringNode)
			if !ok {
				r.problem(v.Key, "%s: a key must be plain text, not %s", what, v.Key.Type())
				continue
			}
			o.fields[key.Value] = v
			o.order = append(o.order, key.Value)
		}
	case *ast.NullNode:
	default:
		r.problem(n, "%s must be a mapping, not %s", what, kindOf(n))
	}
	return o
}

// take returns the value of a key.
func (o *object) take(key string) (ast.Node, bool) {
	o.asked = append(o.asked, key)
	f, ok := o.fields[key]
	if !ok {
		return nil, false
	}
	delete(o.fields, key)
	return f.Value, true
}

// key returns where a key stands.
func (o *object) key(name string) ast.Node {
	if f, ok := o.fields[name]; ok {
		return f.Key
	}
	return o.node
}

// later refuses keys that are known and not supported by this version.
func (o *object) later(keys ...string) {
	for _, k := range keys {
		at := o.key(k)
		if _, there := o.take(k); there {
			o.problem(at, "%s is not supported yet", k)
		}
	}
}

// close reports the keys that nothing asked for.
func (o *object) close(what string) {
	for _, k := range o.order {
		f, left := o.fields[k]
		if !left {
			continue
		}
		if near := nearest(k, o.asked); near != "" {
			o.problem(f.Key, "unknown key %q in %s; did you mean %q?", k, what, near)
		} else {
			o.problem(f.Key, "unknown key %q in %s; it takes %s", k, what, list(o.asked))
		}
	}
}

func (r *report) text(n ast.Node, what string) string {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value
	case *ast.LiteralNode:
		return v.Value.Value
	}
	r.problem(n, "%s must be text, not %s", what, kindOf(n))
	return ""
}

func (r *report) bool(n ast.Node, what string) bool {
	if v, ok := n.(*ast.BoolNode); ok {
		return v.Value
	}
	r.problem(n, "%s must be true or false, not %s", what, kindOf(n))
	return false
}

// count reads a number that is not negative.
func (r *report) count(n ast.Node, what string) int64 {
	if v, ok := n.(*ast.IntegerNode); ok {
		switch i := v.Value.(type) {
		case uint64:
			if i <= 1<<62 {
				return int64(i)
			}
		case int64:
			if i >= 0 {
				return i
			}
		}
	}
	r.problem(n, "%s must be a whole number that is not negative", what)
	return 0
}

// items reads a list.
func (r *report) items(n ast.Node, what string) []ast.Node {
	switch v := n.(type) {
	case *ast.SequenceNode:
		return v.Values
	case *ast.NullNode:
		return nil
	}
	r.problem(n, "%s must be a list, not %s", what, kindOf(n))
	return nil
}

func (r *report) texts(n ast.Node, what string) []string {
	var out []string
	for _, item := range r.items(n, what) {
		out = append(out, r.text(item, what))
	}
	return out
}

// kindOf names what was found, in the words of the person who wrote it.
func kindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.BoolNode:
		return "true or false"
	case *ast.IntegerNode, *ast.FloatNode:
		return "a number"
	case *ast.NullNode:
		return "nothing"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "an anchor or alias, which are not taken"
	case *ast.TagNode:
		return "a tag, which is not taken"
	}
	return "this"
}

func list(names []string) string {
	names = slices.Clone(names)
	slices.Sort(names)
	text := ""
	for i, n := range slices.Compact(names) {
		if i > 0 {
			text += ", "
		}
		text += n
	}
	return text
}
