package staged

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// keepers is the folder, in the state folder, in which each keeper has one.
const keepers = "keepers"

// Place is the folder of the keeper that a key names.
func Place(state, key string) string { return filepath.Join(state, keepers, key) }

// Names of the files in that folder.
const (
	SocketName = "socket"
	LockName   = "lock"
	LogName    = "log"
)

// NewToken makes a token of a keeper's key and of what nobody can guess.
func NewToken(key, secret string) string { return key + "-" + strings.ToLower(secret) }

// keyOf is the key of the keeper that made a token.
func keyOf(token string) (string, error) {
	key, secret, ok := strings.Cut(token, "-")
	if _, err := hex.DecodeString(key); !ok || err != nil || len(key) != 32 || secret == "" {
		return "", errors.New("this is not a token; the text of a hook has one, for one call")
	}
	return key, nil
}

// within runs f with the path of a socket in a folder, short enough for the system: a socket's
// address has about a hundred bytes, and a state folder may lie deep.
func within(folder, name string, f func(path string) error) error {
	path := filepath.Join(folder, name)
	if len(path) < 100 {
		return f(path)
	}
	dir, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer dir.Close()
	return f(fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), name))
}

// Dial connects to the keeper of a key.
func Dial(state, key string) (conn *net.UnixConn, err error) {
	err = within(Place(state, key), SocketName, func(path string) error {
		conn, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
		return err
	})
	return conn, err
}

// Gone reports whether an error of Dial says that there is no keeper.
func Gone(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// Listen makes the socket of a keeper in its folder. It is the only one there: see [LockName].
func Listen(folder string) (l *net.UnixListener, err error) {
	if err := os.Remove(filepath.Join(folder, SocketName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	err = within(folder, SocketName, func(path string) error {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		return err
	})
	if err == nil {
		l.SetUnlinkOnClose(false)
		err = os.Chmod(filepath.Join(folder, SocketName), 0o600)
	}
	return l, err
}

// ErrAnother says that a keeper has the folder already, or still.
var ErrAnother = errors.New("the session has a keeper already")

// openIn opens a file in the folder of a keeper, which is made. Another keeper that ends may take
// the folder away meanwhile.
func openIn(folder, name string, flags int) (f *os.File, err error) {
	for range 100 {
		if err = os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		if f, err = os.OpenFile(filepath.Join(folder, name), flags|os.O_CREATE, 0o600); !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	return f, err
}

// Lock makes the folder of a keeper, and has it for as long as the file is open.
func Lock(folder string) (*os.File, error) {
	for {
		lock, err := openIn(folder, LockName, os.O_RDWR)
		if err != nil {
			return nil, err
		}
		if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
			lock.Close()
			return nil, ErrAnother
		}
		// The one before may have taken it away between.
		mine, err := lock.Stat()
		if err != nil {
			lock.Close()
			return nil, err
		}
		if there, err := os.Stat(lock.Name()); err == nil && os.SameFile(mine, there) {
			return lock, nil
		}
		lock.Close()
	}
}

// Remove takes away the folder of a keeper that has its lock. The lock goes last: from then on the
// folder may be that of the next one.
func Remove(folder string) error {
	var errs []error
	for _, name := range []string{SocketName, LogName, LockName} {
		if err := os.Remove(filepath.Join(folder, name)); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	_ = os.Remove(folder) // unless the next one is there
	return errors.Join(errs...)
}

// staleAfter is how old the folder of a keeper must be to be removed with its keeper gone.
const staleAfter = time.Hour

// Tidy removes what keepers left that were killed.
func Tidy(state string) {
	all, err := os.ReadDir(filepath.Join(state, keepers))
	if err != nil {
		return // there are none
	}
	for _, e := range all {
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < staleAfter {
			continue
		}
		if lock, err := Lock(Place(state, e.Name())); err == nil {
			_ = Remove(Place(state, e.Name())) // the next keeper tries again
			lock.Close()
		}
	}
}
