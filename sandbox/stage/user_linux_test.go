package stage

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/assent-dev/assent/internal/reexec"
)

// ordinary is a user that nothing on this machine belongs to.
const ordinary = 61234

// TestOrdinaryUser runs the tests of this program again, as an ordinary user, if root runs them.
func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		return
	}
	dir, err := os.MkdirTemp("", "assent-user-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	data, err := os.ReadFile(reexec.Self())
	if err != nil {
		t.Fatal(err)
	}
	program, tmp := filepath.Join(dir, "test"), filepath.Join(dir, "tmp")
	for _, err := range []error{os.WriteFile(program, data, 0o755), os.Chmod(dir, 0o755), os.Mkdir(tmp, 0o777), os.Chmod(tmp, 0o777)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "-test.run", "^Test")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/home/nobody", "TMPDIR=" + tmp}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as an ordinary user: %v\n%s", err, out)
	}
}
