package config

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindWorker(t *testing.T) {
	cwd, user := t.TempDir(), t.TempDir()
	here := write(t, filepath.Join(cwd, "here.worker"), "")
	both := write(t, filepath.Join(cwd, "workers", "both.worker"), "")
	plain := write(t, filepath.Join(cwd, "workers", "plain.yaml"), "")
	write(t, filepath.Join(user, "workers", "both.worker"), "")
	own := write(t, filepath.Join(user, "workers", "own.worker"), "")
	top := write(t, filepath.Join(user, "top.worker"), "")
	write(t, filepath.Join(cwd, "workers", "twice.worker"), "")
	write(t, filepath.Join(cwd, "workers", "twice.yaml"), "")
	for name, want := range map[string]string{
		"here.worker": here, "./here.worker": here, here: here, "both": both, "plain": plain, "own": own, "top": top,
	} {
		if got, err := FindWorker(name, cwd, user); err != nil || got != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	for name, want := range map[string]string{
		"twice": "keep one", "bothh": `did you mean "both"?`, "here": "there is no worker", "../x": "no such file", "gone.worker": "no such file", "": "invalid worker name",
	} {
		if got, err := FindWorker(name, cwd, user); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if diff := cmp.Diff([]string{"both", "own", "plain", "top", "twice"}, ListWorkers(workerFolders(cwd, user)...)); diff != "" {
		t.Error(diff)
	}
}

// A model names workers by name, never by path.
func TestAModelCannotNameAPath(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x.worker"), "")
	for _, name := range []string{"../x", "x.worker", "/etc/passwd", "a/b", "..", "-x", "x\n"} {
		if got, err := FindNamed(name, filepath.Join(dir, "workers"), dir); err == nil {
			t.Errorf("%q: %s", name, got)
		}
	}
}

func TestFindProject(t *testing.T) {
	top := t.TempDir()
	policy := write(t, filepath.Join(top, "repo", ".assent", "policy.yaml"), "")
	deep := filepath.Join(top, "repo", "a", "b")
	inner := filepath.Join(top, "repo", "vendored")
	for _, dir := range []string{deep, filepath.Join(inner, ".git"), filepath.Join(top, "repo", ".git")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{filepath.Join(top, "repo"): policy, deep: policy, inner: "", top: ""} {
		if got, err := FindProject(dir); err != nil || got != want {
			t.Errorf("%s: %q, %v", dir, got, err)
		}
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	for path, want := range map[string]struct {
		text, name string
		kind       Kind
	}{
		"a.worker":              {"---\n---\n", "a.worker", WorkerFile},
		"workers/b.yaml":        {"model: m\n", "b.yaml", WorkerFile},
		"c.yaml":                {"instructions: x\n", "c.yaml", WorkerFile},
		"d.yaml":                {"rules: []\n", "d.yaml", PolicyFile},
		"p/.assent/policy.yaml": {"sandbox: {paths: {src: {}}}\n", ".assent/policy.yaml", PolicyFile},
		"assent/config.yaml":    {"model: m\n", "config.yaml", UserFile},
	} {
		f, err := Read(write(t, filepath.Join(dir, path), want.text), "")
		if err != nil || f.Kind != want.kind || f.Policy.File != want.name || string(f.Data) != want.text {
			t.Errorf("%s: %+v, %v", path, f, err)
		}
	}
	f, err := Read(filepath.Join(dir, "p/.assent/policy.yaml"), "")
	if err != nil || f.Policy.Roots[0].Host != filepath.Join(dir, "p/src") {
		t.Errorf("relative to the project: %+v, %v", f, err)
	}
}

func TestReadRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		pipe: "is not a regular file", dir: "is not a regular file", filepath.Join(dir, "gone"): "no such file",
		write(t, filepath.Join(dir, "big"), strings.Repeat("#", maxFile+1)): "is larger than",
	} {
		if _, err := Read(path, PolicyFile); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestMissingRootsAreNamedAndNotMade(t *testing.T) {
	dir := t.TempDir()
	p, err := Load("w.yaml", []byte("sandbox: {paths: {new: {mode: rw}, there: {mode: rw}, ro: {}}}\n"), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "there"), 0o700); err != nil {
		t.Fatal(err)
	}
	missing := p.MissingRoots()
	if len(missing) != 1 || missing[0].Name != "new" {
		t.Errorf("%+v", missing)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// A link to a folder of a project belongs to that project, whatever lies above the link.
func TestFindProjectThroughALink(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	policy := write(t, top+"/proj/.assent/policy.yaml", "{}\n")
	other := write(t, top+"/links/.assent/policy.yaml", "{}\n")
	for _, dir := range []string{"/proj/sub", "/elsewhere"} {
		if err := os.MkdirAll(top+dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"/links/to-project": "/proj/sub", "/links/to-elsewhere": "/elsewhere", "/loose": "/proj/sub"} {
		if err := os.Symlink(top+target, top+link); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{"/links/to-project": policy, "/loose": policy, "/links/to-elsewhere": other} {
		if got, err := FindProject(top + dir); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", dir, got, err, want)
		}
	}
}
