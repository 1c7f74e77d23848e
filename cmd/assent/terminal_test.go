package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/assent-dev/assent/internal/screen"
)

// patience is how long a test waits for something to happen.
const patience = 30 * time.Second

// program is the path of the program, built once for all tests. Every user may start it, and
// it is not below /tmp, which is private in a sandbox.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("/var/tmp", "assent-test-")
	if err != nil {
		return "", err
	}
	programDir = dir
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "assent")
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	return path, build.Run()
})

// programDir is removed after the last test.
var programDir string

// assent returns the command, with an environment of its own. More of it may be given as
// KEY=VALUE.
func assent(t testing.TB, env []string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	c := exec.Command(path, args...)
	c.Dir = home
	c.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home, "XDG_STATE_HOME=" + home + "/state",
		"XDG_CONFIG_HOME=" + home + "/config", "TERM=xterm-256color", "PAGER=cat", "EDITOR=false", "LANG=C.UTF-8",
	}, env...)
	return c
}

// tty is the program at a real terminal.
type tty struct {
	t             *testing.T
	cmd           *exec.Cmd
	master, slave *os.File
	screen        *screen.Screen
	raw           bytes.Buffer // all that was sent to the terminal
	before        string       // how the terminal was set
	sent          chan []byte  // what comes next; closed when nobody has the terminal any more
	ended         chan struct{}
	over          bool // it has ended and all is shown
}

// start runs a command at a terminal of that size. Its standard input and output are there
// too, unless they are elsewhere already.
func start(t *testing.T, columns, rows uint16, c *exec.Cmd) *tty {
	t.Helper()
	master, slave := openTerminal(t, columns, rows)
	x := &tty{t: t, cmd: c, master: master, slave: slave, screen: screen.New(int(columns), int(rows)), sent: make(chan []byte), ended: make(chan struct{})}
	x.before = x.settings()
	c.Stderr = slave
	if c.Stdin == nil {
		c.Stdin = slave
	}
	if c.Stdout == nil {
		c.Stdout = slave
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(x.ended)
		_ = c.Wait() // the status is in the process state
	}()
	go x.receive()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-x.ended
		slave.Close()
		master.Close() // ends receive
		for range x.sent {
		}
	})
	return x
}

// openTerminal makes a terminal. Unlike pty's own file the master's can be closed while it
// is read.
func openTerminal(t *testing.T, columns, rows uint16) (master, slave *os.File) {
	t.Helper()
	blocking, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer blocking.Close()
	if err := pty.Setsize(blocking, &pty.Winsize{Cols: columns, Rows: rows}); err != nil {
		t.Fatal(err)
	}
	syscall.ForkLock.RLock()
	fd, err := syscall.Dup(int(blocking.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
		err = syscall.SetNonblock(fd, true)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "terminal"), slave
}

// receive takes what is sent to the terminal until its last user is gone.
func (x *tty) receive() {
	defer close(x.sent)
	for {
		buffer := make([]byte, 64<<10)
		n, err := x.master.Read(buffer)
		if n > 0 {
			x.sent <- buffer[:n]
		}
		if err != nil {
			return
		}
	}
}

// settings tells how the terminal is set: echo, lines, signals.
func (x *tty) settings() string {
	x.t.Helper()
	c := exec.Command("stty", "-g")
	c.Stdin = x.slave
	out, err := c.Output()
	if err != nil {
		x.t.Fatal(err)
	}
	return string(out)
}

// show draws what was sent.
func (x *tty) show(data []byte) {
	x.raw.Write(data)
	x.screen.Draw(string(data))
}

// until reads until it is good.
func (x *tty) until(what string, good func() bool) {
	x.t.Helper()
	late := time.After(patience)
	ended := x.ended
	for !good() {
		select {
		case data := <-x.sent:
			x.show(data)
		case <-ended:
			ended, x.over = nil, true
			if x.drain(); !good() {
				x.t.Fatalf("the program ended with status %d before %s; screen:\n%s", x.status(), what, x.screen)
			}
		case <-late:
			x.t.Fatalf("no %s in %v; screen:\n%s", what, patience, x.screen)
		}
	}
}

// sees waits for words on the screen; those behind a ! must not be there.
func (x *tty) sees(words ...string) {
	x.t.Helper()
	x.until(strings.Join(words, ", "), func() bool { return x.shows(words...) })
}

func (x *tty) shows(words ...string) bool {
	shown := x.screen.Flat()
	for _, w := range words {
		word, not := strings.CutPrefix(w, "!")
		if strings.Contains(shown, word) == not {
			return false
		}
	}
	return true
}

// asked waits until a prompt with the words takes keys.
func (x *tty) asked(words ...string) {
	x.t.Helper()
	x.sees(append(words, "your answer?")...)
}

// offered waits until a dialog with the words takes a yes: it does once it is known what
// else that answers.
func (x *tty) offered(words ...string) {
	x.t.Helper()
	x.sees(append(words, "[y] yes", "your answer?", "!looking at what else waits")...)
}

// wrote waits for text among all that was sent, also if it is on the screen no more.
func (x *tty) wrote(text string) {
	x.t.Helper()
	x.until(text, func() bool { return strings.Contains(x.raw.String(), text) })
}

func (x *tty) types(keys string) {
	x.t.Helper()
	if _, err := x.master.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// denies answers the prompt with no, for once, and a note that may be empty.
func (x *tty) denies(note string) {
	x.t.Helper()
	if note == "" {
		x.types("n")
		return
	}
	x.types("N")
	x.sees("Deny: a note to the model?")
	x.types(note + "\r")
	x.sees("Deny for how long?")
	x.types("o")
}

// ends waits for the end of the program and wants its status, words on the screen, and
// the terminal as it was.
func (x *tty) ends(status int, words ...string) {
	x.t.Helper()
	x.until("the end", func() bool { return x.over })
	if got := x.status(); got != status {
		x.t.Errorf("exit status %d, want %d; screen:\n%s", got, status, x.screen)
	}
	for _, w := range words {
		if !x.shows(w) {
			x.t.Errorf("at the end the screen should say %q:\n%s", w, x.screen)
		}
	}
	if !x.screen.Clean() {
		x.t.Errorf("left switched on: modes %v, %d keyboard modes", x.screen.Modes, x.screen.Keyboards)
	}
	if after := x.settings(); after != x.before {
		x.t.Errorf("the terminal was not restored: %s, was %s", after, x.before)
	}
}

// drain shows what a program that has ended left in the terminal: what it sent comes
// before a mark that is sent behind it.
func (x *tty) drain() {
	x.t.Helper()
	const mark = "\x1b_end\x1b\\"
	if _, err := x.slave.WriteString(mark); err != nil {
		x.t.Fatal(err)
	}
	for !bytes.HasSuffix(x.raw.Bytes(), []byte(mark)) {
		x.show(<-x.sent)
	}
	x.raw.Truncate(x.raw.Len() - len(mark))
}

func (x *tty) status() int { return x.cmd.ProcessState.ExitCode() }
