package terminal

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/internal/screen"
)

// patience is how long a test waits for something to appear.
const patience = 30 * time.Second

// terminal is a child program at a real terminal.
type terminal struct {
	t       *testing.T
	cmd     *exec.Cmd
	control *os.File // the master, for its size
	master  *os.File // the same, as a file whose reads end when it is closed
	slave   *os.File
	screen  *screen.Screen
	raw     bytes.Buffer // all that was sent to the terminal
	stdout  bytes.Buffer
	before  *term.State
	chunks  chan []byte   // what the child sent
	done    chan struct{} // the child has ended
}

// run starts the child with the calls at a terminal of that size.
func run(t *testing.T, cases string, columns, rows uint16, env ...string) *terminal {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, control: master, master: pollable(t, master), slave: slave, screen: screen.New(int(columns), int(rows))}
	x.resize(columns, rows)
	if x.before, err = term.GetState(slave.Fd()); err != nil {
		t.Fatal(err)
	}
	x.cmd = reexec.Command("child", strings.Split(cases, " ")...)
	x.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "NO_COLOR=", "PAGER=", "VISUAL=", "EDITOR=false", "LESS=")
	x.cmd.Env = append(x.cmd.Env, env...)
	x.cmd.Stdin, x.cmd.Stderr, x.cmd.Stdout = slave, slave, &x.stdout
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	x.chunks, x.done = make(chan []byte), make(chan struct{})
	go x.read()
	go func() {
		_ = x.cmd.Wait() // its status is looked at later
		close(x.done)
	}()
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill()
		x.hangUp()
	})
	return x
}

// pollable returns a second file for the terminal that does not block.
func pollable(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "master")
}

// hangUp closes the terminal.
func (x *terminal) hangUp() {
	x.slave.Close()
	x.master.Close()
	x.control.Close()
}

func (x *terminal) resize(columns, rows uint16) {
	if err := pty.Setsize(x.control, &pty.Winsize{Cols: columns, Rows: rows}); err != nil {
		x.t.Fatal(err)
	}
	// Setsize made the terminal block, for both files.
	if err := syscall.SetNonblock(int(x.control.Fd()), true); err != nil {
		x.t.Fatal(err)
	}
}

// read hands on what the child sends.
func (x *terminal) read() {
	for {
		buffer := make([]byte, 16<<10)
		n, err := x.master.Read(buffer)
		if err != nil {
			return
		}
		select {
		case x.chunks <- buffer[:n]:
		case <-x.t.Context().Done():
			return
		}
	}
}

// until waits until what is on the screen is good.
func (x *terminal) until(what string, good func() bool) {
	x.t.Helper()
	deadline := time.After(patience)
	for !good() {
		select {
		case chunk := <-x.chunks:
			x.raw.Write(chunk)
			x.screen.Draw(string(chunk))
		case <-deadline:
			x.t.Fatalf("waiting for %s\nscreen:\n%s\nraw: %q", what, x.screen, x.raw.String()[max(0, x.raw.Len()-2000):])
		}
	}
}

// sees waits for words on the screen; those behind ! must not be there.
func (x *terminal) sees(words ...string) {
	x.t.Helper()
	x.until(strings.Join(words, ", "), func() bool {
		shown := x.screen.String()
		for _, w := range words {
			if no, ok := strings.CutPrefix(w, "!"); ok == strings.Contains(shown, strings.TrimPrefix(no, "!")) {
				return false
			}
		}
		return true
	})
}

// asked waits until a prompt with the words takes keys.
func (x *terminal) asked(words ...string) {
	x.t.Helper()
	x.sees(append(words, "your answer?")...)
}

func (x *terminal) types(keys string) {
	x.t.Helper()
	if _, err := x.master.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// ends waits for the child, and wants its exit status, words on its standard output, and
// the terminal as it was.
func (x *terminal) ends(status int, words ...string) {
	x.t.Helper()
	x.drain()
	if got := x.cmd.ProcessState.ExitCode(); got != status {
		x.t.Errorf("exit status %d, want %d\n%s\n%s", got, status, x.screen, &x.stdout)
	}
	for _, w := range words {
		if !strings.Contains(x.stdout.String(), w) {
			x.t.Errorf("standard output does not say %q:\n%s", w, &x.stdout)
		}
	}
	x.restored()
}

// drain reads until the child has ended, and then up to a mark that is sent behind all that
// it sent.
func (x *terminal) drain() {
	x.t.Helper()
	const mark = "\x1b_end\x1b\\"
	deadline := time.After(patience)
	for {
		select {
		case chunk := <-x.chunks:
			x.raw.Write(chunk)
			x.screen.Draw(string(chunk))
		case <-x.done:
			if _, err := x.slave.WriteString(mark); err != nil {
				x.t.Fatal(err)
			}
			x.until("the end", func() bool { return bytes.HasSuffix(x.raw.Bytes(), []byte(mark)) })
			x.raw.Truncate(x.raw.Len() - len(mark))
			return
		case <-deadline:
			x.t.Fatalf("the child does not end\nscreen:\n%s", x.screen)
		}
	}
}

func (x *terminal) restored() {
	x.t.Helper()
	after, err := term.GetState(x.slave.Fd())
	if err != nil {
		x.t.Fatal(err)
	}
	if *after != *x.before {
		x.t.Errorf("the terminal was not restored: %+v, was %+v", after, x.before)
	}
}
