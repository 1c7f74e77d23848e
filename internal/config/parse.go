package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// What nobody writes by hand, and what parsing would take too long or too much stack for.
const (
	maxYAML   = 128 << 10
	maxNested = 100
)

// unfit says why a text is not even parsed: a file may come from anybody.
func unfit(data []byte, limit int) (line int, why string) {
	if len(data) > limit {
		return 1, fmt.Sprintf("there are more than %d bytes of YAML", limit)
	}
	depth, number := 0, 0
	for l := range bytes.Lines(data) {
		number++
		if !utf8.Valid(l) {
			return number, "it is not UTF-8"
		}
		deepest := nestedLine(l)
		for _, c := range l {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			}
			deepest = max(deepest, depth)
		}
		if deepest > maxNested {
			return number, "it is nested too deeply"
		}
	}
	return 0, ""
}

// nestedLine counts the levels that a line can open at its start: by two columns of indent,
// or by one item or key in the other.
func nestedLine(line []byte) int {
	rest := bytes.TrimLeft(line, " \t-?")
	return (len(line) - len(rest)) / 2
}

// parse returns the one document of the file; an empty file is an empty mapping.
func (r *report) parse(data []byte) (ast.Node, error) {
	if line, why := unfit(data, cmp.Or(r.limit, maxYAML)); why != "" {
		return nil, Problems{{File: r.file, Line: line, Column: 1, Text: why + "; it cannot be meant"}}
	}
	f, err := parser.ParseBytes(data, 0)
	if err != nil {
		p := Problem{File: r.file, Line: 1, Column: 1, Text: err.Error()}
		var at yaml.Error
		if errors.As(err, &at) {
			pos := at.GetToken().Position
			p.Line, p.Column, p.Text = pos.Line, pos.Column, at.GetMessage()
		}
		return nil, Problems{p}
	}
	var body ast.Node = &ast.NullNode{}
	for i, d := range f.Docs {
		if i > 0 && d.Body != nil {
			r.problem(d.Body, "a second document; a policy file has one")
			return nil, r.err()
		}
		if d.Body != nil {
			body = d.Body
		}
	}
	ast.Walk(noReferences{r}, body)
	return body, r.err()
}

// noReferences reports what makes a value mean more than stands there.
type noReferences struct{ *report }

func (v noReferences) Visit(n ast.Node) ast.Visitor {
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		v.problem(n, "anchors and aliases are not supported; write the value in place")
		return nil
	case *ast.TagNode:
		v.problem(n, "tags are not supported")
		return nil
	}
	return v
}
