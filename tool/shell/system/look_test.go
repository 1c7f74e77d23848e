package system_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/system"
)

func TestLook(t *testing.T) {
	dir := tree(t, "a/b/file", "a/other", "to-file -> a/b/file", "to-folder -> a/b", "dangling -> a/new/deep",
		"up -> ..", "chain -> to-folder", "loop -> loop", "left -> right", "right -> left", "abs -> /etc")
	must(t, unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	w := system.New(dir, nil)
	for _, tt := range []struct {
		path, real string
		kind       analysis.FileKind
	}{
		{"/", "/", analysis.Folder},
		{dir, dir, analysis.Folder},
		{dir + "/a/b/file", dir + "/a/b/file", analysis.File},
		{dir + "/a/b", dir + "/a/b", analysis.Folder},
		{dir + "/a/b/", dir + "/a/b", analysis.Folder},
		{dir + "/none", dir + "/none", analysis.Nothing},
		{dir + "/none/deep", dir + "/none/deep", analysis.Nothing},
		{dir + "/a/b/file/x", dir + "/a/b/file/x", analysis.Nothing},
		{dir + "/to-file", dir + "/a/b/file", analysis.File},
		{dir + "/to-folder/file", dir + "/a/b/file", analysis.File},
		{dir + "/to-folder/new", dir + "/a/b/new", analysis.Nothing},
		{dir + "/chain/file", dir + "/a/b/file", analysis.File},
		{dir + "/dangling", dir + "/a/new/deep", analysis.Nothing},
		{dir + "/dangling/x", dir + "/a/new/deep/x", analysis.Nothing},
		{dir + "/up/x", filepath.Dir(dir) + "/x", analysis.Nothing},
		{dir + "/abs", "/etc", analysis.Folder},
		{dir + "/abs/passwd", "/etc/passwd", analysis.File},
		{dir + "/loop", dir + "/loop", analysis.Device},
		{dir + "/pipe", dir + "/pipe", analysis.Device},
		{"/dev/null", "/dev/null", analysis.Device},
		// `..` behind a link is the parent of where the link leads.
		{dir + "/to-folder/../other", dir + "/a/other", analysis.File},
		{dir + "/a/../to-folder/./file", dir + "/a/b/file", analysis.File},
		{"relative", "relative", analysis.Device},
		{"/" + strings.Repeat("x/", 3000), "/" + strings.Repeat("x/", 3000), analysis.Device},
	} {
		look(t, w, tt.path, tt.real, tt.kind)
	}
	if _, kind := w.Look(dir + "/left/x"); kind != analysis.Device {
		t.Error("what is behind a circle of links cannot be told")
	}
}

// What an analysis was told stays so: a link that is replaced later does not matter.
func TestOneAnswer(t *testing.T) {
	dir := tree(t, "a/file", "b/file", "link -> a")
	w := system.New(dir, nil)
	look(t, w, dir+"/link/file", dir+"/a/file", analysis.File)
	must(t, os.Remove(dir+"/link"))
	must(t, os.Symlink("b", dir+"/link"))
	look(t, w, dir+"/link/file", dir+"/a/file", analysis.File)
	look(t, system.New(dir, nil), dir+"/link/file", dir+"/b/file", analysis.File)
}

// Look agrees with the kernel, for every path of names that mean something in a tree
// of links.
func TestLookAgreesWithTheKernel(t *testing.T) {
	dir := tree(t, "a/b/", "a/c -> b", "b -> a/b", "a/b/a -> ..", "c -> a/b/../c/a", "a/b/c -> ../../c")
	names := []string{"a", "b", "c", "..", "."}
	var walk func(path string, depth int)
	walk = func(path string, depth int) {
		info, err := os.Stat(path)
		real, kind := system.New(dir, nil).Look(path)
		switch {
		case err != nil:
			if kind == analysis.Folder || kind == analysis.File {
				t.Errorf("%s: %v, but kind %d", path, err, kind)
			}
		case kind != analysis.Folder || !sameFile(t, info, real):
			t.Errorf("%s is said to be %s, kind %d", path, real, kind)
		}
		if depth == 0 {
			return
		}
		for _, name := range names {
			if err == nil || name != ".." { // the kernel does not go back from nowhere
				walk(path+"/"+name, depth-1)
			}
		}
	}
	walk(dir, 4)
}

func sameFile(t *testing.T, info os.FileInfo, real string) bool {
	t.Helper()
	there, err := os.Lstat(real)
	must(t, err)
	return os.SameFile(info, there)
}

// A folder that bash cannot enter is not called one.
func TestFoldersThatMayNotBeEntered(t *testing.T) {
	dir := tree(t, "open/", "shut/", "shut/below/")
	for name, mode := range map[string]os.FileMode{"open": 0o500, "shut": 0o600} {
		must(t, os.Chmod(filepath.Join(dir, name), mode))
	}
	t.Cleanup(func() { _ = os.Chmod(dir+"/shut", 0o700) })
	for _, name := range []string{"open", "shut", "shut/below"} {
		_, kind := system.New(dir, nil).Look(filepath.Join(dir, name))
		entered := exec.Command("bash", "-c", "cd "+filepath.Join(dir, name)).Run() == nil
		if entered != (kind == analysis.Folder) || !entered && kind != analysis.Device {
			t.Errorf("%s is of kind %d; bash entered it: %v", name, kind, entered)
		}
	}
}
