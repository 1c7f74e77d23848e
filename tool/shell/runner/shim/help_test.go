package shim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/assent-dev/assent/tool/shell"
	"github.com/assent-dev/assent/tool/shell/runner"
	"github.com/assent-dev/assent/tool/shell/runner/shim"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A lab is a repository with a program beside it that leaves a trace when it is started.
type lab struct {
	t                     testing.TB
	base, dir, spy, trace string
	env                   runner.Environment
	shim                  string
}

func newLab(t testing.TB) *lab {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	l := &lab{t: t, base: base, dir: base + "/repository", spy: base + "/spy", trace: base + "/trace"}
	must(t, os.MkdirAll(l.dir, 0o700))
	l.env = runner.NewEnvironment([]string{"HOME=" + base + "/home", "PATH=" + os.Getenv("PATH")}, nil).
		With(map[string]string{"GIT_OPTIONAL_LOCKS": "1"}) // so that git status may start a hook
	l.install()
	l.write("../spy", "#!/bin/sh\necho \"$0 $*\" >> "+l.trace+"\ncat \"$1\" 2> /dev/null || cat\n")
	must(t, os.Chmod(l.spy, 0o700))
	l.write("../home/.gitconfig", "[user]\nname = A\nemail = a@example.com\n[protocol \"file\"]\nallow = always\n")
	l.prepare("git init -q -b main . && echo one > file && echo 'b one' > other && git add . && git commit -q -m first")
	return l
}

func (l *lab) install() {
	l.t.Helper()
	bash, err := runner.Bash()
	must(l.t, err)
	git, err := exec.LookPath("git")
	must(l.t, err)
	l.shim, err = shim.Install(l.base+"/state", bash, git)
	must(l.t, err)
}

// write makes a file below the repository.
func (l *lab) write(name, text string) {
	l.t.Helper()
	path := filepath.Join(l.dir, name)
	must(l.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(l.t, os.WriteFile(path, []byte(text), 0o600))
}

// run runs a text in the repository.
func (l *lab) run(env runner.Environment, text string) runner.Result {
	l.t.Helper()
	r, err := runner.Run(l.t.Context(), shell.Command{Text: text, Bash: true, Dir: l.dir}, runner.Options{Env: env})
	must(l.t, err)
	return r
}

// prepare runs a text with the real git.
func (l *lab) prepare(text string) {
	l.t.Helper()
	if r := l.run(l.env, text); r.ExitCode != 0 {
		l.t.Fatalf("%s: %s%s", text, r.Stdout.Text, r.Stderr.Text)
	}
}

// hardened runs a text with the shim first in PATH.
func (l *lab) hardened(text string) runner.Result {
	l.t.Helper()
	return l.run(l.env.First(l.shim), text)
}

// traced returns which programs were started since it was last asked.
func (l *lab) traced() string {
	text, _ := os.ReadFile(l.trace)
	_ = os.Remove(l.trace)
	return string(text)
}
