package interp

import (
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// withUmask calls f with the file creation mask of one shell. The mask belongs to the
// process, and there may be several shells in it: so f runs on a thread of its own,
// which shares neither mask nor folder with the others and ends with f.
func withUmask(mask int, f func()) {
	if mask < 0 {
		f()
		return
	}
	onOwnThread(func() {
		syscall.Umask(mask)
		f()
	})
}

func onOwnThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread is thrown away
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			panic("a thread cannot have a mask of its own: " + err.Error())
		}
		f()
	}()
	<-done
}

// processUmask returns the mask of this process.
func processUmask() (mask int) {
	onOwnThread(func() { mask = syscall.Umask(0) })
	return mask
}

// startProcess starts the program, and sets its limits before its first instruction:
// a traced program stops when it has been loaded.
func startProcess(req *ExecRequest) (pid int, err error) {
	attr := attributes(req)
	if len(req.Limits) == 0 {
		return syscall.ForkExec(req.Path, req.Args, attr)
	}
	onOwnThread(func() { pid, err = startLimited(req, attr) })
	return pid, err
}

// awaitEnd waits until a child has ended, and leaves it to be waited for. It waits where the
// runtime does for all files: a thread that waits in the kernel keeps others from running
// until the runtime finds out.
func awaitEnd(pid int) {
	if fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK); err == nil {
		f := os.NewFile(uintptr(fd), "process")
		defer f.Close()
		conn, err := f.SyscallConn()
		if err == nil && conn.Read(func(fd uintptr) bool {
			var info unix.Siginfo
			err := unix.Waitid(unix.P_PIDFD, int(fd), &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
			return err != nil || info.Signo != 0
		}) == nil {
			return
		}
	}
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

func startLimited(req *ExecRequest, attr *syscall.ProcAttr) (int, error) {
	attr.Sys = &syscall.SysProcAttr{Ptrace: true}
	pid, err := syscall.ForkExec(req.Path, req.Args, attr)
	if err != nil {
		return 0, err
	}
	var status syscall.WaitStatus
	if _, err = syscall.Wait4(pid, &status, 0, nil); err == nil && status.Stopped() {
		for resource, limit := range req.Limits {
			lim := limit
			if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), uintptr(resource), uintptr(unsafe.Pointer(&lim)), 0, 0, 0); errno != 0 {
				err = errno
			}
		}
	}
	if err == nil {
		err = syscall.PtraceDetach(pid)
	}
	if err != nil {
		syscall.Kill(pid, syscall.SIGKILL)
		syscall.Wait4(pid, nil, 0, nil)
		return 0, err
	}
	return pid, nil
}

// openFolder returns a descriptor that can stand for a folder, but not list it.
func openFolder(dir string) *desc {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	d := &desc{f: os.NewFile(uintptr(fd), dir), fd: fd}
	d.refs.Store(1)
	return d
}

// folderPath is a path that leads to the folder of an act.
func folderPath(act Act) string {
	if act.DirFile == nil {
		return act.Dir
	}
	return "/proc/self/fd/" + fdName(act.DirFile)
}

// memoryFile returns a file that lives in memory only.
func memoryFile(text string) (*os.File, error) {
	fd, err := unix.MemfdCreate("here-document", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "here-document")
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return nil, err
	}
	_, err = f.Seek(0, 0)
	return f, err
}

const (
	getTermios   = unix.TCGETS
	inputWaiting = unix.TIOCINQ
)

func accessTime(st *syscall.Stat_t) time.Time { return time.Unix(st.Atim.Unix()) }

// limits are what ulimit knows, in the order of ulimit -a. pipe size is a constant.
var limits = []limit{
	{'R', unix.RLIMIT_RTTIME, "real-time non-blocking time", "microseconds", 1},
	{'c', unix.RLIMIT_CORE, "core file size", "blocks", 512},
	{'d', unix.RLIMIT_DATA, "data seg size", "kbytes", 1024},
	{'e', unix.RLIMIT_NICE, "scheduling priority", "", 1},
	{'f', unix.RLIMIT_FSIZE, "file size", "blocks", 1024},
	{'i', unix.RLIMIT_SIGPENDING, "pending signals", "", 1},
	{'l', unix.RLIMIT_MEMLOCK, "max locked memory", "kbytes", 1024},
	{'m', unix.RLIMIT_RSS, "max memory size", "kbytes", 1024},
	{'n', unix.RLIMIT_NOFILE, "open files", "", 1},
	{'p', -1, "pipe size", "512 bytes", 8},
	{'q', unix.RLIMIT_MSGQUEUE, "POSIX message queues", "bytes", 1},
	{'r', unix.RLIMIT_RTPRIO, "real-time priority", "", 1},
	{'s', unix.RLIMIT_STACK, "stack size", "kbytes", 1024},
	{'t', unix.RLIMIT_CPU, "cpu time", "seconds", 1},
	{'u', unix.RLIMIT_NPROC, "max user processes", "", 1},
	{'v', unix.RLIMIT_AS, "virtual memory", "kbytes", 1024},
	{'x', unix.RLIMIT_LOCKS, "file locks", "", 1},
}

// inheritedFiles returns the limit of open files that programs get. The runtime raised
// the one of this process, and gives programs the original, which it does not tell: so
// the parent's is taken if that is lower.
func inheritedFiles() syscall.Rlimit {
	var l, parent syscall.Rlimit
	syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(syscall.Getppid()), syscall.RLIMIT_NOFILE, 0, uintptr(unsafe.Pointer(&parent)), 0, 0)
	if errno == 0 {
		l.Cur = min(l.Cur, parent.Cur)
	}
	return l
}

// mayRaiseLimits reports whether a hard limit can be raised: CAP_SYS_RESOURCE.
func mayRaiseLimits() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_SYS_RESOURCE) != 0
}
