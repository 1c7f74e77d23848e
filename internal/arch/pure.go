package arch

import (
	"go/ast"
	"slices"
	"strings"
)

// impure are the standard packages that reach out of the process, or around its types.
// What lies below one of them is impure too, except what harmless names.
var (
	impure   = []string{"os", "net", "database/sql", "log", "syscall", "unsafe"}
	harmless = []string{"net/url", "net/netip"}
)

// clock are the functions of package time that read the clock or wait for it. In a pure
// package time is an argument.
var clock = []string{
	"Now", "Since", "Until", "Sleep",
	"After", "AfterFunc", "NewTicker", "NewTimer", "Tick",
}

// checkPure reports what a file of a pure package may not do.
func checkPure(f file) []Violation {
	var found []Violation
	for _, spec := range f.syntax.Imports {
		p := importPath(spec)
		switch {
		case inModules(impure, p) && !slices.Contains(harmless, p):
			found = append(found, f.violation(spec.Pos(),
				"%s is pure and may not import %s; let the caller hand in what it needs", f.folder(), p))
		case p == "time" && localName(spec) == ".":
			found = append(found, f.violation(spec.Pos(),
				"%s is pure and may not dot-import time: uses of the clock would not be seen", f.folder()))
		case p == "time":
			found = append(found, checkClock(f, localName(spec))...)
		}
	}
	return found
}

// checkClock finds uses of the clock through the name that the file gives package time. A
// variable of that name is taken for the package: rename it.
func checkClock(f file, timeName string) []Violation {
	var found []Violation
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == timeName && slices.Contains(clock, sel.Sel.Name) {
			found = append(found, f.violation(sel.Pos(),
				"%s is pure and may not use time.%s; take the time as an argument", f.folder(), sel.Sel.Name))
		}
		return true
	})
	return found
}

// localName is the name under which a file knows an import.
func localName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	p := importPath(spec)
	return p[strings.LastIndex(p, "/")+1:]
}
