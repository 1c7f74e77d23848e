package bwrap

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/assent-dev/assent/internal/reexec"
)

// ordinary is a user that nothing on this machine belongs to.
const ordinary = 61234

// runAsOrdinaryUser runs one test of this program again, as an ordinary user.
func runAsOrdinaryUser(t *testing.T, name string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "assent-user-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := filepath.Join(dir, "test")
	copyProgram(t, program)
	for _, err := range []error{os.Chmod(dir, 0o755), os.Chmod(program, 0o755), os.Mkdir(filepath.Join(dir, "tmp"), 0o777), os.Chmod(filepath.Join(dir, "tmp"), 0o777)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "-test.run", "^"+name+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/home/nobody", "TMPDIR=" + filepath.Join(dir, "tmp"), "ASSENT_ROUNDS=" + os.Getenv("ASSENT_ROUNDS")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("as an ordinary user: %v\n%s", err, out)
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	from, err := os.Open(reexec.Self())
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(f, from); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
