package detect

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// remounts tries to make a read-only mount writable.
func remounts(path string) bool {
	return unix.Mount("none", path, "", unix.MS_REMOUNT|unix.MS_BIND, "") == nil
}

// traces tries the first step of tracing a process.
func traces() bool {
	runtime.LockOSThread() // not unlocked: a traced thread is of no further use
	_, _, errno := unix.RawSyscall(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0)
	return errno == 0
}
