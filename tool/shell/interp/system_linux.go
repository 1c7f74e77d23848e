package interp

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// withUmask calls f with the file creation mask of one shell. The mask belongs to the
// process, and there may be several shells in it: so f runs on a thread of its own,
// which shares neither mask nor folder with the others and ends with f.
func withUmask(mask int, f func()) error {
	if mask < 0 {
		f()
		return nil
	}
	return onOwnThread(func() {
		syscall.Umask(mask)
		f()
	})
}

// onOwnThread calls f, or returns an error if a thread cannot have a mask of its own here.
func onOwnThread(f func()) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread is thrown away
		err := unix.Unshare(unix.CLONE_FS)
		if err == nil {
			f()
		}
		done <- err
	}()
	return <-done
}

// processUmask returns the mask of this process.
func processUmask() int {
	mask := 0o022 // the usual one, where the system does not tell
	_ = onOwnThread(func() { mask = syscall.Umask(0) })
	return mask
}

// openPath opens what a request names, without waiting for the other end of a fifo. It
// opens nothing of this process: /proc/self is another process than the command means, and
// its descriptors and memory are those of the interpreter.
func openPath(req *OpenRequest) (int, error) {
	flag, perm := req.Flag|unix.O_CLOEXEC, uint32(req.Perm.Perm())
	if req.File != nil {
		return unix.Open("/proc/self/fd/"+fdName(req.File), flag, perm)
	}
	if req.Path == "" {
		return -1, unix.ENOENT
	}
	at, path := unix.AT_FDCWD, req.Path
	switch {
	case path[0] == '/':
	case req.DirFile != nil:
		at = int(req.DirFile.Fd())
	default:
		path = req.Dir + "/" + path
	}
	if flag&unix.O_PATH == 0 { // which opens nothing that could be waited for
		flag |= unix.O_NONBLOCK
	}
	how := &unix.OpenHow{Flags: uint64(flag), Resolve: unix.RESOLVE_NO_MAGICLINKS}
	if flag&unix.O_CREAT != 0 {
		how.Mode = uint64(perm)
	}
	fd, err := unix.Openat2(at, path, how)
	switch err {
	case nil:
	case unix.ELOOP:
		// The last name itself may be the descriptor of another process: /proc/1/fd/1.
		dir, name := filepath.Split(path)
		how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS}
		folder, open := unix.Openat2(at, cmp.Or(dir, "."), how)
		if open != nil {
			return -1, err
		}
		defer unix.Close(folder)
		if isProc, own := inProc(folder); own {
			return -1, unix.EACCES
		} else if !isProc {
			return -1, err
		}
		return unix.Openat(folder, name, flag, perm)
	case unix.ENOSYS:
		fd, err = unix.Openat(at, path, flag, perm)
	}
	if err != nil {
		return -1, err
	}
	if _, own := inProc(fd); own {
		unix.Close(fd)
		return -1, unix.EACCES
	}
	return fd, nil
}

// inProc reports whether a descriptor is of a file below /proc, and whether that belongs to
// this process or one of its threads.
func inProc(fd int) (isProc, own bool) {
	var st unix.Statfs_t
	if unix.Fstatfs(fd, &st) != nil || st.Type != unix.PROC_SUPER_MAGIC {
		return false, false
	}
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	if err != nil {
		return true, true
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(path, "/proc/"), "/")
	if _, err := strconv.Atoi(id); err != nil {
		return true, false
	}
	_, err = os.Lstat("/proc/self/task/" + id)
	return true, err == nil
}

// startProcess starts the program, and sets its limits before its first instruction:
// a traced program stops when it has been loaded.
func startProcess(req *ExecRequest) (pid int, err error) {
	attr := attributes(req)
	if len(req.Limits) == 0 {
		return syscall.ForkExec(req.Path, req.Args, attr)
	}
	if req.On != nil { // this is a thread of its own already
		return startLimited(req, attr)
	}
	if apart := onOwnThread(func() { pid, err = startLimited(req, attr) }); apart != nil {
		return 0, apart
	}
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
	if err == syscall.EPERM { // nothing can be traced in a sandbox: it has its limits a moment later
		attr.Sys = &syscall.SysProcAttr{}
		if pid, err = syscall.ForkExec(req.Path, req.Args, attr); err == nil {
			err = setLimits(pid, req.Limits)
		}
		return kept(pid, err)
	}
	if err != nil {
		return 0, err
	}
	var status syscall.WaitStatus
	if _, err = syscall.Wait4(pid, &status, 0, nil); err == nil && status.Stopped() {
		err = setLimits(pid, req.Limits)
	}
	if err == nil {
		err = syscall.PtraceDetach(pid)
	}
	return kept(pid, err)
}

// setLimits sets the limits of a program. One that has ended needs none.
func setLimits(pid int, limits map[int]syscall.Rlimit) error {
	for resource, limit := range limits {
		lim := limit
		if err := unix.Prlimit(pid, resource, (*unix.Rlimit)(&lim), nil); err != nil && err != unix.ESRCH {
			return err
		}
	}
	return nil
}

// kept returns the program that was started, or ends it.
func kept(pid int, err error) (int, error) {
	if pid <= 0 {
		return 0, err
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
	var l syscall.Rlimit
	var parent unix.Rlimit
	syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l)
	if unix.Prlimit(syscall.Getppid(), unix.RLIMIT_NOFILE, nil, &parent) == nil {
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
