package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// file is one parsed Go file.
type file struct {
	name   string // below the module root, with slashes
	test   bool
	fset   *token.FileSet
	syntax *ast.File
}

// folder is where the file lies, which is also how the table names its package.
func (f file) folder() string { return path.Dir(f.name) }

// violation reports a fault at a place in the file.
func (f file) violation(at token.Pos, format string, args ...any) Violation {
	return Violation{File: f.name, Line: f.fset.Position(at).Line, Reason: fmt.Sprintf(format, args...)}
}

// readModule parses every Go file below the root that the go command would look at. A
// file that does not parse is a violation; an error is a tree that cannot be read.
func readModule(root fs.FS) (files []file, faults []Violation, err error) {
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && ignoredFolder(name):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || ignoredName(d.Name()):
			return nil
		}
		f, fault, err := readFile(root, name)
		if fault != nil {
			faults = append(faults, *fault)
		} else if err == nil {
			files = append(files, f)
		}
		return err
	})
	return files, faults, err
}

func ignoredFolder(name string) bool {
	return name != "." && (path.Base(name) == "testdata" || ignoredName(path.Base(name)))
}

func ignoredName(base string) bool {
	return strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")
}

func readFile(root fs.FS, name string) (file, *Violation, error) {
	src, err := fs.ReadFile(root, name)
	if err != nil {
		return file{}, nil, err
	}
	f := file{name: name, test: strings.HasSuffix(name, "_test.go"), fset: token.NewFileSet()}
	f.syntax, err = parser.ParseFile(f.fset, name, src, f.depth())
	if err != nil {
		return file{}, &Violation{File: name, Line: 1, Reason: fmt.Sprintf("does not parse: %v", err)}, nil
	}
	return f, nil, nil
}

// depth is how much of the file is parsed: bodies matter in tests and where they must be
// pure.
func (f file) depth() parser.Mode {
	if table[f.folder()].pure || f.test {
		return parser.ParseComments | parser.SkipObjectResolution
	}
	return parser.ParseComments | parser.ImportsOnly
}
