package arch_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/assent-dev/assent/internal/arch"
)

const module = "github.com/assent-dev/assent/"

// source is a Go file with a package comment that has the imports and nothing else.
func source(imports ...string) string {
	var b strings.Builder
	b.WriteString("// Package x is an example.\npackage x\n\n")
	for _, p := range imports {
		fmt.Fprintf(&b, "import %s\n", p)
	}
	return b.String()
}

func quoted(path string) string { return `"` + path + `"` }

// check runs the checker on a module with these files.
func check(t *testing.T, files map[string]string) []string {
	t.Helper()
	root := fstest.MapFS{}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	found, err := arch.Check(root)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, v := range found {
		lines = append(lines, v.String())
	}
	return lines
}

// expect fails unless there is exactly one violation, with this beginning and content.
func expect(t *testing.T, got []string, place, reason string) {
	t.Helper()
	if len(got) != 1 || !strings.HasPrefix(got[0], place+": ") || !strings.Contains(got[0], reason) {
		t.Errorf("got  %q\nwant one violation at %s that says %q", got, place, reason)
	}
}

func expectNone(t *testing.T, got []string) {
	t.Helper()
	if len(got) != 0 {
		t.Errorf("got %q, want no violation", got)
	}
}

func TestArrows(t *testing.T) {
	for _, tt := range []struct{ file, imports, reason string }{
		{"approval/a.go", "present", ""},
		{"approval/a.go", "sandbox", "approval may not import sandbox"},
		{"approval/a.go", "tool", "approval may not import tool"},
		{"approval/a.go", "approval/approvaltest", "approval may not import approval/approvaltest"},
		{"approval/a.go", "presents", "approval may not import presents"},
		{"present/a.go", "approval", "present may not import approval"},
		{"sandbox/a.go", "present", "sandbox may not import present"},
		{"tool/a.go", "approval", ""},
		{"tool/files/a.go", "tool/roots", ""},
		{"tool/roots/a.go", "tool", "tool/roots may not import tool"},
		{"terminal/a.go", "tool", "terminal may not import tool"},
		{"internal/inbox/a.go", "terminal", ""},
		{"store/a.go", "tool", "store may not import tool"},
		{"cmd/assent/a.go", "internal/gateway", ""},
		{"cmd/assent/a.go", "approval/approvaltest", "cmd/assent may not import approval/approvaltest"},
		{"cmd/assent/a.go", "nowhere", "cmd/assent may not import nowhere"},
		{"examples/email/a.go", "tool/shell", ""},
		{"examples/email/a.go", "approval/approvaltest", ""},
		{"examples/email/a.go", "terminal", ""},
		{"examples/email/a.go", "internal/config", "examples/email may not import internal/config"},
		{"examples/email/deep/a.go", "store", "examples/email/deep may not import store"},
	} {
		t.Run(tt.file+" imports "+tt.imports, func(t *testing.T) {
			got := check(t, map[string]string{tt.file: source(quoted(module + tt.imports))})
			if tt.reason == "" {
				expectNone(t, got)
				return
			}
			expect(t, got, tt.file+":4", tt.reason)
		})
	}
}

func TestOutsideModules(t *testing.T) {
	for _, tt := range []struct {
		file, imports string
		ok            bool
	}{
		{"policy/a.go", "github.com/bmatcuk/doublestar/v4", true},
		{"policy/a.go", "github.com/bmatcuk/doublestar", false},
		{"policy/a.go", "github.com/bmatcuk/doublestar/v44", false},
		{"policy/a.go", "github.com/google/go-cmp/cmp", false},
		{"tool/a.go", "github.com/google/jsonschema-go/jsonschema", true},
		{"tool/a.go", "github.com/spf13/cobra", false},
		{"cmd/assent/a.go", "github.com/spf13/cobra", true},
		{"cmd/assent/a.go", "mvdan.cc/sh/v3/syntax", false},
		{"examples/email/a.go", "github.com/spf13/cobra", false},
		{"tool/a.go", "encoding/json", true},
	} {
		t.Run(tt.file+" imports "+tt.imports, func(t *testing.T) {
			got := check(t, map[string]string{tt.file: source(quoted(tt.imports))})
			if tt.ok {
				expectNone(t, got)
				return
			}
			expect(t, got, tt.file+":4", "may not import "+tt.imports)
		})
	}
}

func TestTestFiles(t *testing.T) {
	for _, tt := range []struct {
		imports string
		ok      bool
	}{
		{module + "approval", true},
		{module + "present", true},
		{module + "approval/approvaltest", true},
		{module + "internal/rounds", true},
		{module + "tool", false},
		{"github.com/google/go-cmp/cmp", true},
		{"pgregory.net/rapid", true},
		{"github.com/rogpeppe/go-internal/testscript", true},
		{"github.com/creack/pty", true},
		{"github.com/spf13/cobra", false},
		{"os", true}, // only what ships must be pure
	} {
		t.Run(tt.imports, func(t *testing.T) {
			got := check(t, map[string]string{
				"approval/a.go":      source(),
				"approval/a_test.go": source(quoted(tt.imports)),
			})
			if tt.ok {
				expectNone(t, got)
				return
			}
			expect(t, got, "approval/a_test.go:4", "may not import")
		})
	}
}

func TestPureImports(t *testing.T) {
	for _, pkg := range []string{"present", "approval", "sandbox"} {
		for _, bad := range []string{
			"os", "os/exec", "os/signal", "net", "net/http", "net/http/httptest", "net/mail",
			"database/sql", "database/sql/driver", "log", "log/slog", "syscall", "unsafe",
		} {
			t.Run(pkg+" "+bad, func(t *testing.T) {
				got := check(t, map[string]string{pkg + "/a.go": source(quoted(bad))})
				expect(t, got, pkg+"/a.go:4", "is pure and may not import "+bad)
			})
		}
		for _, fine := range []string{"net/url", "net/netip", "time", "context", "errors", "logic"} {
			t.Run(pkg+" "+fine, func(t *testing.T) {
				expectNone(t, check(t, map[string]string{pkg + "/a.go": source(quoted(fine))}))
			})
		}
	}
	t.Run("other packages may", func(t *testing.T) {
		expectNone(t, check(t, map[string]string{
			"tool/a.go":          source(quoted("os"), quoted("net/http")),
			"sandbox/bwrap/a.go": source(quoted("syscall")),
		}))
	})
}

func TestClock(t *testing.T) {
	for _, tt := range []struct{ name, imports, body, reason string }{
		{"called", `"time"`, "var _ = time.Now()", "may not use time.Now"},
		{"as a value", `"time"`, "var clock = time.Now", "may not use time.Now"},
		{"since", `"time"`, "var _ = time.Since(x)", "may not use time.Since"},
		{"until", `"time"`, "var _ = time.Until(x)", "may not use time.Until"},
		{"sleep", `"time"`, "func f() { time.Sleep(1) }", "may not use time.Sleep"},
		{"timer", `"time"`, "var _ = time.NewTimer(1)", "may not use time.NewTimer"},
		{"after", `"time"`, "func f() { <-time.After(1) }", "may not use time.After"},
		{"renamed", `t "time"`, "var _ = t.Now()", "may not use time.Now"},
		{"an argument is fine", `"time"`, "func f(now time.Time) bool { return now.After(now) }", ""},
		{"a duration is fine", `"time"`, "const d = 3 * time.Second", ""},
		{"another package's Now is fine", `"strings"`, "var _ = time.Now()", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := check(t, map[string]string{"approval/a.go": source(tt.imports) + tt.body})
			if tt.reason == "" {
				expectNone(t, got)
				return
			}
			expect(t, got, "approval/a.go:5", tt.reason)
		})
	}
	t.Run("dot import", func(t *testing.T) {
		got := check(t, map[string]string{"sandbox/a.go": source(`. "time"`)})
		expect(t, got, "sandbox/a.go:4", "may not dot-import time")
	})
	t.Run("tests may", func(t *testing.T) {
		expectNone(t, check(t, map[string]string{
			"approval/a.go":      source(),
			"approval/a_test.go": source(`"time"`) + "var _ = time.Now()",
		}))
	})
}

func TestPackageComment(t *testing.T) {
	const bare = "package x\n"
	t.Run("missing", func(t *testing.T) {
		got := check(t, map[string]string{"store/a.go": bare, "store/b.go": bare})
		expect(t, got, "store/a.go:1", "package x has no package comment")
	})
	t.Run("a test's comment does not count", func(t *testing.T) {
		got := check(t, map[string]string{"store/a.go": bare, "store/a_test.go": source()})
		expect(t, got, "store/a.go:1", "no package comment")
	})
	t.Run("a directive is no comment", func(t *testing.T) {
		got := check(t, map[string]string{"store/a.go": "//go:generate true\npackage x\n"})
		expect(t, got, "store/a.go:2", "no package comment")
	})
	t.Run("one file is enough", func(t *testing.T) {
		expectNone(t, check(t, map[string]string{"store/a.go": bare, "store/b.go": source()}))
	})
	t.Run("only tests", func(t *testing.T) {
		expectNone(t, check(t, map[string]string{"store/a_test.go": source()}))
		got := check(t, map[string]string{"store/a_test.go": bare})
		expect(t, got, "store/a_test.go:1", "no package comment")
	})
}

func TestTree(t *testing.T) {
	t.Run("unknown folder", func(t *testing.T) {
		got := check(t, map[string]string{"helpers/a.go": source()})
		expect(t, got, "helpers/a.go:2", "folder helpers is not in the table")
	})
	t.Run("cgo", func(t *testing.T) {
		got := check(t, map[string]string{"tool/a.go": source(`"C"`)})
		expect(t, got, "tool/a.go:4", "no cgo")
	})
	t.Run("not Go", func(t *testing.T) {
		got := check(t, map[string]string{"tool/a.go": "this is not Go"})
		expect(t, got, "tool/a.go:1", "does not parse")
	})
	t.Run("what the go command ignores", func(t *testing.T) {
		expectNone(t, check(t, map[string]string{
			"tool/testdata/a.go": "not Go",
			".hidden/a.go":       "not Go",
			"_old/a.go":          "not Go",
			"tool/.a.go":         "not Go",
			"tool/a.txt":         "not Go",
		}))
	})
}
