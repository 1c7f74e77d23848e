package arch

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
)

// importPath is the path that a spec names, without its quotes.
func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value // the parser accepts only what can be unquoted
	}
	return p
}

// checkImports holds the imports of a file against the line of its package.
func checkImports(f file, rules line) []Violation {
	var found []Violation
	for _, spec := range f.syntax.Imports {
		p := importPath(spec)
		folder, inside := insideFolder(p)
		switch {
		case p == "C":
			found = append(found, f.violation(spec.Pos(), "imports C: this module has no cgo"))
		case inside && !mayUseFolder(f, rules, folder):
			found = append(found, f.violation(spec.Pos(),
				"%s may not import %s: internal/arch/table.go has no such arrow", f.folder(), folder))
		case !inside && isOutside(p) && !mayUseModule(f, rules, p):
			found = append(found, f.violation(spec.Pos(),
				"%s may not import %s: its line in internal/arch/table.go lists no such module", f.folder(), p))
		}
	}
	return found
}

// insideFolder returns the folder that an import of this module names.
func insideFolder(importPath string) (folder string, ok bool) {
	if importPath == modulePath {
		return ".", true
	}
	return strings.CutPrefix(importPath, modulePath+"/")
}

// isOutside tells modules from the standard library, whose paths start with no host.
func isOutside(importPath string) bool {
	host, _, _ := strings.Cut(importPath, "/")
	return strings.Contains(host, ".")
}

// mayUseFolder: a test may also import the package it tests, the helpers for tests, and what its
// line names for tests.
func mayUseFolder(f file, rules line, folder string) bool {
	if f.test && (folder == f.folder() || slices.Contains(testHelpers, folder) || slices.Contains(rules.tests, folder)) {
		return true
	}
	return rules.allows(folder)
}

func mayUseModule(f file, rules line, importPath string) bool {
	return inModules(rules.outside, importPath) || f.test && inModules(testModules, importPath)
}

func inModules(modules []string, importPath string) bool {
	return slices.ContainsFunc(modules, func(m string) bool {
		return importPath == m || strings.HasPrefix(importPath, m+"/")
	})
}
