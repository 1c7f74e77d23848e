package launch

import (
	"errors"
	"io"
	"os/exec"
	"sync"

	"github.com/assent-dev/assent/sandbox"
)

// An output counts what a command prints on both its streams.
type output struct {
	passed func() // told once, when the limit is passed

	mu   sync.Mutex
	left int64
}

// Connect gives a process the streams of a command. If its output is limited, passed is
// told when the limit is passed, and what comes later is dropped.
func Connect(cmd *exec.Cmd, c sandbox.Command, limit int64, passed func()) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	if limit == 0 {
		return
	}
	o := &output{passed: sync.OnceFunc(passed), left: limit}
	cmd.Stdout = o.limited(c.Stdout)
	if same(c.Stdout, c.Stderr) {
		cmd.Stderr = cmd.Stdout
		return
	}
	cmd.Stderr = o.limited(c.Stderr)
}

func (o *output) limited(w io.Writer) io.Writer {
	if w == nil {
		w = io.Discard
	}
	return &counted{o, w}
}

// take returns how many of n bytes may still be printed.
func (o *output) take(n int) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n = int(min(int64(n), o.left))
	o.left -= int64(n)
	return n
}

type counted struct {
	*output
	w io.Writer
}

var errPassed = errors.New("the output limit is passed")

func (c *counted) Write(data []byte) (int, error) {
	n := c.take(len(data))
	if n > 0 {
		if written, err := c.w.Write(data[:n]); err != nil {
			return written, err
		}
	}
	if n < len(data) {
		c.passed()
		return n, errPassed
	}
	return n, nil
}

// same reports whether two writers are one, as package exec does.
func same(a, b io.Writer) bool {
	defer func() { _ = recover() }() // writers that cannot be compared
	return a == b
}
