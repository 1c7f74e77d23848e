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
		conn, err := Dial(state, e.Name())
		if err == nil {
			conn.Close()
		} else if Gone(err) {
			os.RemoveAll(Place(state, e.Name()))
		}
	}
}
