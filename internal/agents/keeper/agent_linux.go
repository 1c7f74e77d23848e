package keeper

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// endWith has f called when a process ends. It must be there still.
func endWith(pid int, f func()) error {
	if pid == 0 {
		return nil
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return fmt.Errorf("the agent's process %d cannot be watched: %w", pid, err)
	}
	go func() {
		defer unix.Close(fd)
		for {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
			if err != unix.EINTR {
				break
			}
		}
		f()
	}()
	return nil
}

// ownPeer refuses a connection of another user.
func ownPeer(conn syscall.RawConn) error {
	var cred *unix.Ucred
	var failed error
	err := conn.Control(func(fd uintptr) { cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err != nil || failed != nil {
		return fmt.Errorf("the process that asks is unknown: %w", failed)
	}
	if int(cred.Uid) != unix.Getuid() {
		return fmt.Errorf("user %d asks, and this is for user %d", cred.Uid, unix.Getuid())
	}
	return nil
}
