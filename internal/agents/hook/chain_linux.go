package hook

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/assent-dev/assent/internal/agents"
)

// chain are the processes that led to this one, the nearest first.
func chain() (out []agents.Process) {
	for pid, seen := os.Getppid(), 0; pid > 1 && seen < maxChain; seen++ {
		args, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			return out
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return out
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // the name may have anything in it
		if len(fields) < 20 {
			return out
		}
		out = append(out, agents.Process{
			Pid: pid, Start: fields[19], // ticks since the machine was started
			Args:     strings.Split(strings.TrimSuffix(string(args), "\x00"), "\x00"),
			Terminal: isTerminal(pid, 0) && isTerminal(pid, 1),
		})
		if pid, err = strconv.Atoi(fields[1]); err != nil {
			return out
		}
	}
	return out
}

// isTerminal reports whether a stream of a process is a terminal.
func isTerminal(pid, fd int) bool {
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", pid, fd))
	return err == nil && (strings.HasPrefix(name, "/dev/pts/") || strings.HasPrefix(name, "/dev/tty") || name == "/dev/console")
}

// environOf is the environment that a process was started with.
func environOf(pid int) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), err
}
