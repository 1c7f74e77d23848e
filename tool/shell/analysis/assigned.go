package analysis

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// How a variable is assigned.
type assigned int

const (
	byText   assigned = iota + 1
	byNumber          // only numbers
)

// A survey is what a body may change if it runs, found without walking it.
type survey struct {
	names map[string]assigned
	all   bool // anything: it runs code that is not seen here
	jumps bool // leaves early: break, continue, return
	moves bool // changes the folder
	sets  bool // changes the positional parameters
}

// changes surveys statements that would run in the state.
func changes(stmts []*syntax.Stmt, s *state) survey {
	v := survey{names: map[string]assigned{}}
	for _, stmt := range stmts {
		v.node(stmt, s)
	}
	return v
}

func (v *survey) node(root syntax.Node, s *state) {
	syntax.Walk(root, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				v.assigns(n.Assigns)
			} else {
				v.call(n, s)
			}
		case *syntax.DeclClause:
			v.assigns(n.Args)
		case *syntax.WordIter:
			v.name(n.Name.Value, byText)
		case *syntax.ParamExp:
			if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) && n.Param != nil {
				v.name(n.Param.Value, byText)
			}
		case *syntax.BinaryArithm:
			if isAssignment(n.Op) {
				v.arithmeticName(n.X)
			}
		case *syntax.UnaryArithm:
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				v.arithmeticName(n.X)
			}
		case *syntax.CoprocClause:
			v.name("COPROC", byText)
		case *syntax.Redirect:
			if n.N != nil && strings.HasPrefix(n.N.Value, "{") {
				v.name(strings.Trim(n.N.Value, "{}"), byText)
			}
		case *syntax.FuncDecl:
			v.anything() // what a name means, and so what a call of it does
			return false
		}
		return true
	})
}

// anything notes that code runs which is not seen here.
func (v *survey) anything() {
	v.all, v.moves, v.sets, v.jumps = true, true, true, true
}

func (v *survey) name(name string, how assigned) {
	if old, ok := v.names[name]; ok && old != how {
		how = byText
	}
	v.names[name] = how
}

func (v *survey) assigns(list []*syntax.Assign) {
	for _, a := range list {
		switch {
		case a.Name == nil:
			v.all = v.all || a.Value == nil || !strings.HasPrefix(a.Value.Lit(), "-")
		case a.Index == nil && a.Array == nil && !a.Append && a.Value != nil && isNumeric(a.Value):
			v.name(a.Name.Value, byNumber)
		default:
			v.name(a.Name.Value, byText)
		}
	}
}

// isNumeric reports whether a word is a number whatever its variables hold.
func isNumeric(word *syntax.Word) bool {
	if len(word.Parts) != 1 {
		return false
	}
	switch part := word.Parts[0].(type) {
	case *syntax.ArithmExp:
		return true
	case *syntax.Lit:
		return digits(part.Value)
	}
	return false
}

func digits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

func (v *survey) arithmeticName(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case *syntax.Word:
		if name := x.Lit(); name != "" {
			v.name(name, byNumber)
			return
		}
		if len(x.Parts) == 1 {
			if p, ok := x.Parts[0].(*syntax.ParamExp); ok && p.Param != nil {
				v.name(p.Param.Value, byText)
				return
			}
		}
	}
	v.all = true
}

// harmlessNames are builtins that change neither variables nor the folder.
var harmlessNames = map[string]bool{
	":": true, "true": true, "false": true, "echo": true, "pwd": true, "test": true, "[": true,
	"exit": true, "wait": true, "jobs": true, "times": true, "type": true, "kill": true,
	"umask": true, "ulimit": true, "hash": true, "dirs": true,
}

// call notes what a simple command may change: builtins assign variables and change the
// folder, functions and unseen code do anything, programs nothing.
func (v *survey) call(n *syntax.CallExpr, s *state) {
	name := n.Args[0].Lit()
	_, isFunction := s.function(name)
	if isFunction || name == "" || name != "[" && strings.ContainsAny(name, `\*?[{~`) {
		v.anything()
		return
	}
	switch name {
	case "break", "continue", "return":
		v.jumps = true
	case "cd", "pushd", "popd":
		v.moves = true
	case "set", "shift":
		v.sets = true
	case "read", "mapfile", "readarray", "getopts", "unset", "wait":
		v.named(n)
	case "printf":
		if len(n.Args) > 1 && strings.HasPrefix(n.Args[1].Lit(), "-") {
			v.named(n)
		}
	default:
		if special[name] != nil && !harmlessNames[name] {
			v.anything()
		}
	}
}

// named notes the words of a builtin that may be names of variables.
func (v *survey) named(n *syntax.CallExpr) {
	for _, word := range n.Args[1:] {
		lit := word.Lit()
		switch {
		case isName(lit):
			v.name(lit, byText)
		case lit == "" && !isQuotedText(word):
			v.all = true
		case strings.HasPrefix(lit, "-v"):
			v.name(lit[2:], byText)
		}
	}
	v.name("REPLY", byText)
	v.name("MAPFILE", byText)
	v.name("OPTARG", byText)
	v.name("OPTIND", byText)
}

// isQuotedText reports whether a word is one quoted literal that is no name.
func isQuotedText(word *syntax.Word) bool {
	if len(word.Parts) != 1 {
		return false
	}
	switch q := word.Parts[0].(type) {
	case *syntax.SglQuoted:
		return !isName(q.Value)
	case *syntax.DblQuoted:
		if len(q.Parts) == 1 {
			lit, ok := q.Parts[0].(*syntax.Lit)
			return ok && !isName(lit.Value)
		}
	}
	return false
}

func isName(text string) bool {
	if text == "" || text[0] >= '0' && text[0] <= '9' {
		return false
	}
	for i := range len(text) {
		if !isNameByte(text[i]) {
			return false
		}
	}
	return true
}
