package launch

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

func endWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

func ownSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// awaitExit waits until a child has ended, and leaves it to be waited for.
func awaitExit(pid int) {
	queue, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer unix.Close(queue)
	exit := []unix.Kevent_t{{Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT,
		Fflags: unix.NOTE_EXIT}}
	for {
		_, err := unix.Kevent(queue, exit, make([]unix.Kevent_t, 1), nil)
		if !errors.Is(err, unix.EINTR) {
			return // it has ended, or had before
		}
	}
}

// keepFiles keeps descriptors that this program itself was started with from being passed
// on. Go opens its own so that they never are.
func keepFiles() {
	entries, _ := os.ReadDir("/dev/fd")
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
