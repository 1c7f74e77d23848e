//go:build !linux

package inside

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/tool/shell/interp"
)

// takeInput takes the connection from standard input, where programs would find it.
func takeInput() (*os.File, error) {
	fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 10)
	if err != nil {
		return nil, err
	}
	null, err := unix.Open(os.DevNull, unix.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	if err := unix.Dup2(null, 0); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "gate"), unix.Close(null)
}

func ownMask() error { return nil }

// Elsewhere no descriptor can stand for a file that is not opened: what was judged is used
// by its name.

func pin(path string) (*os.File, string, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, "", err
	}
	real, err := filepath.EvalSymlinks(path)
	return nil, real, err
}

func pinned(_ *os.File, path string) string { return path }

func reach(act interp.Act, path string) string { return absolute(act, path) }

func steady(*os.File, string, string) (string, *os.File) { return "", nil }

type target struct{ real string }

func (target) close() {}

func find(req *interp.OpenRequest) (target, error) {
	path := absolute(req.Act, req.Path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return target{real}, nil
	}
	real, err := filepath.EvalSymlinks(filepath.Dir(path))
	return target{filepath.Join(real, filepath.Base(path))}, err
}

func (target) request(req *interp.OpenRequest) *interp.OpenRequest { return req }

// gains is nothing: opening /dev/fd/N elsewhere gives a copy of the descriptor.
func gains(*interp.OpenRequest) (name string, reads, writes bool) { return "", false, false }

func onlyRead(*os.File) bool { return false } // likewise

func isDocument(*os.File) bool { return false }
