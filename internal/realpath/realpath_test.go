package realpath

import (
	"os"
	"path/filepath"
	"testing"
)

func TestResolve(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(top, "real", "deep"), 0o700))
	must(os.WriteFile(filepath.Join(top, "real", "file"), nil, 0o600))
	link := func(name, target string) { t.Helper(); must(os.Symlink(target, filepath.Join(top, name))) }
	link("folder", "real")
	link("file", "folder/file")
	link("dangling", "real/new")
	link("absolute", filepath.Join(top, "folder", "absent"))
	link("chain", "dangling")
	link("a", "b")
	link("b", "a")
	link("real/up", "../gone/below")
	for path, want := range map[string]string{
		"":                       "",
		"real/file":              "real/file",
		"file":                   "real/file",
		"folder/new":             "real/new",
		"folder/new/newer":       "real/new/newer",
		"dangling":               "real/new",
		"dangling/below":         "real/new/below",
		"chain":                  "real/new",
		"absolute":               "real/absent",
		"folder/up":              "gone/below",
		"folder/deep/../x":       "real/x",
		"none/folder/../nothing": "none/nothing",
	} {
		got, err := Resolve(filepath.Join(top, filepath.FromSlash(path)))
		if err != nil || got != filepath.Join(top, want) {
			t.Errorf("%q: %q, %v; want %q", path, got, err, want)
		}
	}
	if got, err := Resolve(filepath.Join(top, "a", "x")); err == nil {
		t.Errorf("a loop: %q", got)
	}
	if got, err := Resolve(filepath.Join(top, "real", "file", "x")); err == nil {
		t.Errorf("below a file: %q", got)
	}
}
