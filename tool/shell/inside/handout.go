package inside

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// handOut listens on the loopback inside and gives the listener to the gate's side, which
// serves it from outside. Nothing of it stays here.
func handOut(conn *os.File, address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	defer l.Close()
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer f.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	rights := unix.UnixRights(int(f.Fd()))
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		failed = unix.Sendmsg(int(fd), []byte{0}, rights, nil, 0)
		return !errors.Is(failed, unix.EAGAIN)
	})
	return errors.Join(err, failed)
}
