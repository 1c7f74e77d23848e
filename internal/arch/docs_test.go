package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root       = "../.."
	maxSteps   = 15 // that a walk may have, so that it can be read in one sitting
	walkTitle  = "A call through"
	whereTitle = "Where is what"
)

// TestArchitecturePage holds docs/architecture.md to the source: its picture has every package,
// its walks are short, and what the walks and the table name is there.
func TestArchitecturePage(t *testing.T) {
	text, err := os.ReadFile(root + "/docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	names, walks, tables := declared(t), 0, 0
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		switch {
		case title == "Packages":
			checkPicture(t, body)
			continue
		case strings.HasPrefix(title, walkTitle):
			walks++
			checkSteps(t, title, body)
		case title == whereTitle:
			tables++
		default:
			t.Errorf("section %q: nothing checks it", title)
		}
		for _, quoted := range quotedWords.FindAllStringSubmatch(body, -1) {
			if !names.has(quoted[1]) {
				t.Errorf("%s: `%s` is no package, file or name in the source", title, quoted[1])
			}
		}
	}
	if walks != 3 || tables != 1 {
		t.Errorf("there are %d walks and %d tables, want 3 and 1", walks, tables)
	}
}

var (
	quotedWords = regexp.MustCompile("`([^`]+)`")
	stepStart   = regexp.MustCompile(`(?m)^(\d+)\. `)
	pictureLine = regexp.MustCompile(`^( *)((?:[\w./-]+/ )*[\w./-]+/)(?:\s|$)`)
)

// checkPicture compares the packages in the picture with those of the table. What is indented
// lies below the first package of the last line that is not.
func checkPicture(t *testing.T, body string) {
	parts := strings.Split(body, "```")
	if len(parts) != 3 {
		t.Fatalf("the section has %d blocks of code, want one", len(parts)/2)
	}
	seen, above := map[string]bool{}, ""
	for line := range strings.Lines(strings.TrimSpace(parts[1])) {
		found := pictureLine.FindStringSubmatch(line)
		if found == nil {
			if strings.TrimSpace(line) != "" {
				t.Errorf("the picture's line names no package: %s", line)
			}
			continue
		}
		for i, name := range strings.Fields(found[2]) {
			folder := path.Clean(name)
			if found[1] != "" {
				folder = path.Join(above, name)
			} else if i == 0 {
				above = folder
			}
			if _, ok := table[folder]; !ok {
				t.Errorf("the picture has %s, which is no package", folder)
			}
			if seen[folder] {
				t.Errorf("the picture has %s twice", folder)
			}
			seen[folder] = true
		}
	}
	for folder := range table {
		if !seen[folder] {
			t.Errorf("the picture lacks %s", folder)
		}
	}
}

// checkSteps sees that a walk is numbered, and short.
func checkSteps(t *testing.T, title, body string) {
	steps := stepStart.FindAllStringSubmatch(body, -1)
	for i, step := range steps {
		if step[1] != strconv.Itoa(i+1) {
			t.Errorf("%s: step %d has the number %s", title, i+1, step[1])
		}
	}
	if len(steps) == 0 || len(steps) > maxSteps {
		t.Errorf("%s: it has %d steps, want at most %d", title, len(steps), maxSteps)
	}
}

// A nameSet has what one package declares outside tests: Name, or Type.Method.
type nameSet map[string]bool

// names are those of all packages, by folder.
type names map[string]nameSet

// has reports whether a quoted text is a package, a file or a declared name. A command line of
// assent, or a flag, is not looked up.
func (n names) has(quoted string) bool {
	if strings.HasPrefix(quoted, "assent ") || strings.HasPrefix(quoted, "assent-") || strings.HasPrefix(quoted, "--") {
		return true
	}
	if n[quoted] != nil {
		return true
	}
	if ext := path.Ext(quoted); slices.Contains([]string{".go", ".md"}, ext) {
		_, err := os.Stat(filepath.Join(root, quoted))
		return err == nil
	}
	last, name, _ := strings.Cut(path.Base(quoted), ".")
	folder := path.Join(path.Dir(quoted), last)
	if folder == path.Base(modulePath) {
		folder = "."
	}
	return n[folder][name]
}

// declared reads the names of the module.
func declared(t *testing.T) names {
	out := names{}
	for folder := range table {
		out[folder] = nameSet{}
		files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range syntax.Decls {
				out[folder].add(d)
			}
		}
	}
	return out
}

// add notes what a declaration declares, with the methods of interfaces.
func (n nameSet) add(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		n[receiver(d)+d.Name.Name] = true
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					n[name.Name] = true
				}
			case *ast.TypeSpec:
				n[spec.Name.Name] = true
				if i, ok := spec.Type.(*ast.InterfaceType); ok {
					for _, method := range i.Methods.List {
						for _, name := range method.Names {
							n[spec.Name.Name+"."+name.Name] = true
						}
					}
				}
			}
		}
	}
}

// receiver is the type of a method with a dot; empty for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}
