//go:build !linux

package hook

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/assent-dev/assent/internal/agents"
)

// chain are the processes that led to this one, the nearest first. Whether their streams are
// terminals is not known here, only whether they have one.
func chain() (out []agents.Process) {
	for pid, seen := os.Getppid(), 0; pid > 1 && seen < maxChain; seen++ {
		text, err := exec.Command("/bin/ps", "-o", "ppid=,tty=,args=", "-p", strconv.Itoa(pid)).Output()
		fields := strings.Fields(string(text))
		if err != nil || len(fields) < 3 {
			return out
		}
		out = append(out, agents.Process{Args: fields[2:], Terminal: !strings.HasPrefix(fields[1], "?")})
		if pid, err = strconv.Atoi(fields[0]); err != nil {
			return out
		}
	}
	return out
}

// environOf is not known here.
func environOf(int) ([]string, error) { return nil, errors.ErrUnsupported }
