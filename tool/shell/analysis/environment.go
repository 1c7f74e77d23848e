package analysis

import (
	"slices"
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
	"mvdan.cc/sh/v3/syntax"
)

// show notes a variable whose value may be printed; an empty name stands for all.
func (w *walker) show(name string) {
	if !slices.Contains(w.shown, name) {
		w.shown = append(w.shown, name)
	}
}

// showDeclared notes what declare, export and their kind print: everything without a name,
// and with -p the variables that they name.
func (w *walker) showDeclared(words []programs.Word, d declarer) {
	if d.functions {
		return
	}
	names := 0
	for _, word := range words[1:] {
		if strings.HasPrefix(word.Text, "-") || strings.HasPrefix(word.Text, "+") {
			continue
		}
		names++
		if d.prints {
			name, _, _ := strings.Cut(word.Text, "=")
			w.show(name)
		}
	}
	if names == 0 {
		w.show("")
	}
}

// expansions notes the variables that a text expands, wherever their values may end up. Those
// that it sets before, in a statement of its own that nothing can skip, have no value of
// somebody else's; a test shows nothing of what it compares.
func (w *walker) expansions(file *syntax.File) {
	set := make(map[string]bool)
	for _, stmt := range file.Stmts {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.TestClause:
				return false
			case *syntax.CallExpr:
				return len(n.Args) == 0 || !isTest(n.Args[0].Lit())
			case *syntax.ParamExp:
				if n.Param != nil && !set[n.Param.Value] && !n.Length && !isAlternative(n) && isName(n.Param.Value) {
					w.show(n.Param.Value)
				}
			}
			return true
		})
		if call, ok := stmt.Cmd.(*syntax.CallExpr); ok && len(call.Args) == 0 && !stmt.Background && !stmt.Negated && len(stmt.Redirs) == 0 {
			for _, a := range call.Assigns {
				if a.Name != nil && !a.Append && a.Index == nil {
					set[a.Name.Value] = true
				}
			}
		}
	}
}

// isTest reports whether a command looks at its words and prints none of them.
func isTest(name string) bool { return name == "test" || name == "[" || name == ":" }

// isAlternative reports whether an expansion is ${name:+word}, which shows whether there is a
// value and not which.
func isAlternative(p *syntax.ParamExp) bool {
	return p.Exp != nil && (p.Exp.Op == syntax.AlternateUnset || p.Exp.Op == syntax.AlternateUnsetOrNull)
}
