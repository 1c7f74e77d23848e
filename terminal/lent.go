package terminal

import (
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// lentAfter is how long after the end of a pager or editor a Ctrl-C still counts as theirs:
// it may have ended them, and be told to this program only then.
const lentAfter = 250 * time.Millisecond

// loan is the terminal of this process, of which there is one, in other hands.
var loan struct {
	mu    sync.Mutex
	open  int
	ended time.Time // the last one
}

// Lent reports whether a pager or an editor has the terminal. The terminal sends a Ctrl-C to
// every program at it; while this is true it is meant for them, and ends no run.
func Lent() bool {
	loan.mu.Lock()
	defer loan.mu.Unlock()
	return loan.open > 0 || time.Since(loan.ended) < lentAfter
}

// lend gives the terminal away until the function that it returns is called.
func lend() (back func()) {
	loan.mu.Lock()
	defer loan.mu.Unlock()
	loan.open++
	return func() {
		loan.mu.Lock()
		defer loan.mu.Unlock()
		loan.open--
		loan.ended = time.Now()
	}
}

// keepShell is the first line for a shell that runs a pager or an editor: Ctrl-C is theirs,
// and the shell tells how they ended.
const keepShell = "trap : INT\n"

// program returns what a variable such as PAGER says, with further arguments. A shell stands
// between only if it must: it would not hand on that the prompt ends.
func (w *work) program(said string, args ...string) *exec.Cmd {
	if strings.ContainsAny(said, "\"'`\\$|&;<>()*?[]{}#~=!\n") {
		return w.command("sh", append([]string{"-c", keepShell + said + ` "$@"`, "sh"}, args...)...)
	}
	words := strings.Fields(said)
	return w.command(words[0], append(words[1:], args...)...)
}

// command returns a program that has the terminal for itself. When the prompt ends it is
// asked to end, and so can put the terminal back as it was; killed, it could not.
func (w *work) command(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	return cmd
}

// A borrower is a program that has the terminal for itself while it runs. It is what
// bubbletea takes for one.
type borrower struct{ *exec.Cmd }

// Run runs the program.
func (b borrower) Run() error {
	defer lend()()
	return b.Cmd.Run()
}

// SetStdin and the others do nothing: the program has its files already.
func (borrower) SetStdin(io.Reader)  {}
func (borrower) SetStdout(io.Writer) {}
func (borrower) SetStderr(io.Writer) {}
