package system_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/system"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// folder returns a new empty folder as a real path.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

// put makes a file with its folders.
func put(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
}

// tree makes files, `folders/`, and `links -> target` below a new folder.
func tree(t testing.TB, names ...string) string {
	t.Helper()
	dir := folder(t)
	for _, name := range names {
		if link, target, ok := strings.Cut(name, " -> "); ok {
			must(t, os.Symlink(target, filepath.Join(dir, link)))
		} else if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(filepath.Join(dir, name), 0o700))
		} else {
			put(t, filepath.Join(dir, name), name)
		}
	}
	return dir
}

// look checks one answer of Look.
func look(t *testing.T, w *system.World, path, wantReal string, wantKind analysis.FileKind) {
	t.Helper()
	if real, kind := w.Look(path); real != wantReal || kind != wantKind {
		t.Errorf("%s is %s, kind %d; want %s, kind %d", path, real, kind, wantReal, wantKind)
	}
}

// git runs the real git with a home folder of its own.
func git(t testing.TB, home, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(home, dir, args...)
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

func tryGit(home, dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = environment(home)
	out, err := cmd.Output()
	return string(out), err
}

func environment(home string) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
}
