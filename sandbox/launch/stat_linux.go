package launch

import (
	"os"

	"golang.org/x/sys/unix"
)

// StatOf reads the stat of a process in an open /proc. It is not ok if the process is gone.
func StatOf(proc *os.File, pid string) (s Stat, ok bool) {
	fd, err := unix.Openat(int(proc.Fd()), pid+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return s, false
	}
	defer unix.Close(fd)
	text := make([]byte, 512)
	n, err := unix.Read(fd, text)
	if err != nil {
		return s, false
	}
	return ParseStat(text[:n])
}
