package arch

import (
	"go/ast"
	"slices"
)

// skips are the methods with which a test passes without having tested anything.
var skips = []string{"Skip", "Skipf", "SkipNow"}

// checkTest reports what a test may not do: skip itself, or wait for time to pass instead
// of for what it tests.
func checkTest(f file) []Violation {
	var found []Violation
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, _ := sel.X.(*ast.Ident)
		switch {
		case slices.Contains(skips, sel.Sel.Name):
			found = append(found, f.violation(sel.Pos(), "a test may not skip itself; let make install what it needs"))
		case x != nil && x.Name == "time" && sel.Sel.Name == "Sleep":
			found = append(found, f.violation(sel.Pos(), "a test may not sleep; wait for the event, or use testing/synctest"))
		}
		return true
	})
	return found
}
