package config

import (
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// An object is a mapping with fixed keys that is being read.
type object struct {
	*report
	node   ast.Node
	shape  *shape
	fields map[string]ast.Node
	keys   map[string]ast.Node // where each field begins
}

// object reads a mapping and reports the keys that it may not have, and those that it
// must; an absent value is an empty mapping.
func (r *report) object(n ast.Node, what string, s *shape) *object {
	o := &object{report: r, node: n, shape: s, fields: map[string]ast.Node{}, keys: map[string]ast.Node{}}
	for _, e := range r.entries(n, what) {
		if s.find(e.name) == nil {
			r.unknownKey(e, what, s)
			continue
		}
		o.fields[e.name], o.keys[e.name] = e.value, e.key
	}
	for _, k := range s.keys {
		if _, there := o.fields[k.name]; k.needed && !there {
			r.problem(n, "%s needs a %s", what, k.name)
		}
	}
	return o
}

func (r *report) unknownKey(e entry, what string, s *shape) {
	if instead := s.refused[e.name]; instead != "" {
		r.problem(e.key, "%s is not used here; %s", e.name, instead)
	} else if near := nearest(e.name, s.names()); near != "" {
		r.problem(e.key, "unknown key %q in %s; did you mean %q?", e.name, what, near)
	} else {
		r.problem(e.key, "unknown key %q in %s; it takes %s", e.name, what, list(s.names()))
	}
}

// take returns the value of a key, which is one of the shape's.
func (o *object) take(key string) (ast.Node, bool) {
	if o.shape.find(key) == nil {
		panic("config: " + key + " is read and stands in no table")
	}
	n, ok := o.fields[key]
	return n, ok
}

// valueAt reads the value of a key; zero if it is not there.
func valueAt[T any](o *object, key string, read func(n ast.Node, what string) T, what string) (value T) {
	if n, ok := o.take(key); ok {
		value = read(n, what)
	}
	return value
}

// An entry is one of a mapping.
type entry struct {
	name  string
	key   ast.Node
	value ast.Node
}

// entries reads a mapping in its order; an absent value has none.
func (r *report) entries(n ast.Node, what string) []entry {
	var out []entry
	switch m := n.(type) {
	case *ast.MappingNode:
		for _, v := range m.Values {
			key, ok := v.Key.(*ast.StringNode)
			if !ok {
				r.problem(v.Key, "%s: a key must be plain text, not %s", what, v.Key.Type())
				continue
			}
			out = append(out, entry{key.Value, v.Key, v.Value})
		}
	case *ast.NullNode:
	default:
		r.problem(n, "%s must be a mapping, not %s", what, kindOf(n))
	}
	return out
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

// one reads a text that is one of the words of its shape.
func (r *report) one(n ast.Node, what string, s *shape) string {
	if _, isText := n.(*ast.StringNode); !isText {
		return r.text(n, what)
	}
	word := r.text(n, what)
	if !slices.Contains(s.words, word) {
		r.problem(n, "%s: unknown word %q; it is %s", what, word, list(s.words))
	}
	return word
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
