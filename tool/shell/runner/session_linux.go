package runner

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/tool/shell/wire"
)

// attributes make bash the leader of a session without a terminal, that ends with us.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// closeOthers marks every descriptor of ours but the first three to be closed in
// programs. Those that Go opens are so already; those that we were started with, or
// that other code opened, may not be.
func closeOthers() error {
	err := unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	if err == nil || !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL) {
		return err
	}
	entries, err := os.ReadDir("/proc/self/fd") // an older kernel
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return err
}

// signalStrays signals the processes of a call that may have left its group: those of
// its session, and those with its marker in the environment that they started with.
// SIGKILL is repeated for what they start meanwhile.
func signalStrays(session int, marker string, sig syscall.Signal) {
	for range 10 {
		found := false
		for _, pid := range pids() {
			found = signalIfOurs(pid, session, marker, sig) || found
		}
		if !found || sig != unix.SIGKILL {
			return
		}
	}
}

func pids() []int {
	var found []int
	entries, _ := os.ReadDir("/proc") // without it the group alone is signalled
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			found = append(found, pid)
		}
	}
	return found
}

// signalIfOurs looks again when it holds the process, as the number may have gone to
// another one meanwhile.
func signalIfOurs(pid, session int, marker string, sig syscall.Signal) bool {
	if !isOurs(pid, session, marker) {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer p.Release()
	return isOurs(pid, session, marker) && p.Signal(sig) == nil
}

func isOurs(pid, session int, marker string) bool {
	s, ok := statOf(pid)
	return ok && !s.Ended() && (s.Session == session || hasVariable(pid, Marker+"="+marker))
}

// settle is how long processes that are there when bash has ended may take to end by
// themselves, as those behind >(tee log) do.
const settle = 100 * time.Millisecond

// strays returns the names of the processes that a call which has ended left running.
func strays(session int, marker string) []string {
	found := startedSince(session)
	found = slices.DeleteFunc(found, func(pid int) bool { return !isOurs(pid, session, marker) })
	if len(found) > 0 {
		<-time.After(settle)
	}
	var names []string
	for _, pid := range found {
		if s, ok := statOf(pid); ok && isOurs(pid, session, marker) {
			names = append(names, s.Name)
		}
	}
	return names
}

// startedSince returns the processes that are younger than one of ours. The kernel counts
// them up and begins anew at the end, and says which number it gave last.
func startedSince(first int) []int {
	text, _ := os.ReadFile("/proc/loadavg")
	last, err := strconv.Atoi(string(text[bytes.LastIndexByte(text, ' ')+1 : max(len(text)-1, 0)]))
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(pids(), func(pid int) bool {
		if last >= first {
			return pid <= first || pid > last
		}
		return pid <= first && pid > last
	})
}

func hasVariable(pid int, entry string) bool {
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+entry))
}

// parentMarked reports whether a parent, or one of its parents, was started by a call.
func parentMarked() bool { return marked(os.Getppid()) }

// marked reports whether a process or one of its parents has the marker.
func marked(pid int) bool {
	for pid > 1 {
		if hasVariable(pid, Marker+"=") {
			return true
		}
		s, ok := statOf(pid)
		if !ok || s.Parent == pid {
			return false
		}
		if unreadable(pid) && wire.IsShell(commandLine(pid)) {
			return true
		}
		pid = s.Parent
	}
	return false
}

// unreadable reports whether a process keeps its environment from us, as the shell inside
// does.
func unreadable(pid int) bool {
	_, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return errors.Is(err, os.ErrPermission)
}

func commandLine(pid int) []string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.Split(string(text), "\x00")
}

// statOf reads what /proc says of a process.
func statOf(pid int) (launch.Stat, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return launch.Stat{}, false
	}
	return launch.ParseStat(text)
}
