//go:build !linux

package runner

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes make bash the leader of a session without a terminal.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// closeOthers marks every descriptor of ours but the first three to be closed in
// programs.
func closeOthers() error {
	entries, err := os.ReadDir("/dev/fd")
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return err
}

// signalStrays would reach processes that left the group; they cannot be told here.
func signalStrays(int, string, syscall.Signal) {}

// strays would name processes that still run; they cannot be told here.
func strays(int, string) []string { return nil }

// parentMarked would look at the parents, which cannot be told here.
func parentMarked() bool { return false }
