package system_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/system"
)

func TestList(t *testing.T) {
	dir := tree(t, "b", "a", "c/", "d -> a")
	w := system.New(dir, nil)
	all := []analysis.Entry{
		{Name: "a", Kind: analysis.File}, {Name: "b", Kind: analysis.File},
		{Name: "c", Kind: analysis.Folder}, {Name: "d", Link: true},
	}
	for max, want := range map[int]bool{0: true, 1: true, 3: true, 4: false, 100: false, -1: true} {
		got, more := w.List(dir, max)
		if more != want || len(got) > len(all) || len(got) > max && max >= 0 {
			t.Errorf("at most %d: %v, more %v", max, got, more)
		}
	}
	if got, more := w.List(dir, 4); !slices.Equal(got, all) || more {
		t.Errorf("all: %v, more %v", got, more)
	}
	put(t, dir+"/e", "")
	if got, _ := w.List(dir, 4); !slices.Equal(got, all) {
		t.Errorf("the answer changed: %v", got)
	}
	for path, want := range map[string]bool{dir + "/a": false, dir + "/none": false, "/dev/null": true} {
		if got, more := w.List(path, 9); got != nil || more != want {
			t.Errorf("%s has %v, more %v", path, got, more)
		}
	}
}

func TestProgram(t *testing.T) {
	dir := tree(t, "one/plain", "one/tool", "two/tool", "two/plain", "one/folder/", "two/folder", "here")
	for _, name := range []string{"one/tool", "two/tool", "two/plain", "two/folder", "here"} {
		must(t, os.Chmod(filepath.Join(dir, name), 0o700))
	}
	w := system.New(dir, []string{"PATH=" + dir + "/one:two::/nowhere"})
	for name, want := range map[string]string{
		"tool":     dir + "/one/tool",
		"plain":    dir + "/two/plain", // the first cannot be executed
		"folder":   dir + "/two/folder",
		"here":     dir + "/here",
		"none":     "",
		"":         "",
		"one/tool": "",
	} {
		if got := w.Program(name); got != want {
			t.Errorf("%q is found at %q, want %q", name, got, want)
		}
	}
	if got := system.New(dir, nil).Program("here"); got != "" {
		t.Errorf("without a PATH: %q", got)
	}
}

func TestEnvironment(t *testing.T) {
	w := system.New("/tmp", []string{"HOME=/h", "EMPTY=", "A=b=c"})
	for name, want := range map[string]string{"HOME": "/h", "EMPTY": "", "A": "b=c", "PWD": "/tmp"} {
		if got, set := w.Variable(name); got != want || !set {
			t.Errorf("%s is %q, set %v", name, got, set)
		}
	}
	if got, set := w.Variable("HO"); set {
		t.Errorf("HO is %q", got)
	}
	if got := w.Home(); got != "/h" {
		t.Errorf("home is %q", got)
	}
	if got := system.New("/tmp", nil).Home(); got == "" {
		t.Error("without $HOME the system knows no home")
	}
}
