package interp

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// umasks guards the mask of the process, which is the only one there is.
var umasks sync.Mutex

func withUmask(mask int, f func()) error {
	if mask < 0 {
		f()
		return nil
	}
	umasks.Lock()
	defer umasks.Unlock()
	old := syscall.Umask(mask)
	defer syscall.Umask(old)
	f()
	return nil
}

// openPath opens what a request names, without waiting for the other end of a fifo.
func openPath(req *OpenRequest) (int, error) {
	path, flag := req.Path, req.Flag|syscall.O_CLOEXEC
	switch {
	case req.File != nil:
		path = "/dev/fd/" + fdName(req.File)
	case path != "" && path[0] != '/':
		path = req.Dir + "/" + path
		fallthrough
	default:
		flag |= syscall.O_NONBLOCK
	}
	return syscall.Open(path, flag, uint32(req.Perm.Perm()))
}

func processUmask() int {
	umasks.Lock()
	defer umasks.Unlock()
	mask := syscall.Umask(0)
	syscall.Umask(mask)
	return mask
}

func startProcess(req *ExecRequest) (int, error) {
	if len(req.Limits) > 0 {
		return 0, syscall.ENOSYS
	}
	return syscall.ForkExec(req.Path, req.Args, attributes(req))
}

// awaitEnd waits until a child has ended, and leaves it to be waited for.
func awaitEnd(pid int) {
	queue, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer unix.Close(queue)
	exit := []unix.Kevent_t{{Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD, Fflags: unix.NOTE_EXIT}}
	for {
		_, err := unix.Kevent(queue, exit, make([]unix.Kevent_t, 1), nil)
		if err != unix.EINTR {
			return // it has ended, or had before
		}
	}
}

func openFolder(string) *desc { return nil }

func folderPath(act Act) string { return act.Dir }

// memoryFile has no counterpart here: a pipe is filled by a goroutine instead.
func memoryFile(text string) (*os.File, error) {
	r, w, err := pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		w.WriteString(text)
		w.Close()
	}()
	return r, nil
}

const (
	getTermios   = unix.TIOCGETA
	inputWaiting = 0x4004667f // FIONREAD
)

func accessTime(st *syscall.Stat_t) time.Time { return time.Unix(st.Atimespec.Unix()) }

var limits = []limit{
	{'c', unix.RLIMIT_CORE, "core file size", "blocks", 512},
	{'d', unix.RLIMIT_DATA, "data seg size", "kbytes", 1024},
	{'f', unix.RLIMIT_FSIZE, "file size", "blocks", 512},
	{'l', unix.RLIMIT_MEMLOCK, "max locked memory", "kbytes", 1024},
	{'n', unix.RLIMIT_NOFILE, "open files", "", 1},
	{'p', -1, "pipe size", "512 bytes", 1},
	{'s', unix.RLIMIT_STACK, "stack size", "kbytes", 1024},
	{'t', unix.RLIMIT_CPU, "cpu time", "seconds", 1},
	{'u', unix.RLIMIT_NPROC, "max user processes", "", 1},
	{'v', unix.RLIMIT_AS, "virtual memory", "kbytes", 1024},
}

func inheritedFiles() syscall.Rlimit {
	var l syscall.Rlimit
	syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	return l
}

func mayRaiseLimits() bool { return unix.Geteuid() == 0 }
