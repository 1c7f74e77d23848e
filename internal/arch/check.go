package arch

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Violation is one place that breaks a rule.
type Violation struct {
	File   string // below the module root, with slashes
	Line   int
	Reason string // what is wrong, and what to do
}

func (v Violation) String() string {
	return fmt.Sprintf("%s:%d: %s", v.File, v.Line, v.Reason)
}

// Check reads the module whose root is given and returns what breaks the rules, in the
// order of files and lines. An error means that the tree could not be read.
func Check(root fs.FS) ([]Violation, error) {
	files, found, err := readModule(root)
	if err != nil {
		return nil, fmt.Errorf("reading the module: %w", err)
	}
	for folder, pkg := range byFolder(files) {
		found = append(found, checkPackage(folder, pkg)...)
	}
	slices.SortFunc(found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Reason, b.Reason))
	})
	return found, nil
}

func byFolder(files []file) map[string][]file {
	folders := map[string][]file{}
	for _, f := range files {
		folders[f.folder()] = append(folders[f.folder()], f)
	}
	return folders
}

// checkPackage judges the files of one folder, of which there is at least one.
func checkPackage(folder string, files []file) []Violation {
	found := checkComment(files)
	rules, ok := lineOf(folder)
	if !ok {
		first := files[0]
		return append(found, first.violation(first.syntax.Package,
			"folder %s is not in the table; give it a line in internal/arch/table.go", folder))
	}
	for _, f := range files {
		found = append(found, checkImports(f, rules)...)
		if rules.pure && !f.test {
			found = append(found, checkPure(f)...)
		}
		if f.test {
			found = append(found, checkTest(f)...)
		}
	}
	return found
}

func lineOf(folder string) (line, bool) {
	l, ok := table[folder]
	if !ok && strings.HasPrefix(folder, "examples/") {
		return examples, true
	}
	return l, ok
}

// checkComment wants a package comment in a file that ships, or, where there are only
// tests, in one of those.
func checkComment(files []file) []Violation {
	tests := !slices.ContainsFunc(files, func(f file) bool { return !f.test })
	for _, f := range files {
		if f.test == tests && f.syntax.Doc.Text() != "" {
			return nil
		}
	}
	first := files[0]
	return []Violation{first.violation(first.syntax.Package,
		"package %s has no package comment; say above a package clause what it is for", first.syntax.Name.Name)}
}
