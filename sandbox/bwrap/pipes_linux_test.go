package bwrap

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// talk is a conversation with a command.
type talk struct {
	in  *os.File
	out *bufio.Reader
}

// pipes returns what a command reads and writes, and the other ends of both.
func pipes(t *testing.T) (in, out *os.File, other talk) {
	t.Helper()
	in, toIn, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromOut, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, f := range []*os.File{in, toIn, fromOut, out} {
			f.Close()
		}
	})
	return in, out, talk{toIn, bufio.NewReader(fromOut)}
}

func (c talk) await(t *testing.T, line string) {
	t.Helper()
	got, err := c.out.ReadString('\n')
	if err != nil || strings.TrimSpace(got) != line {
		t.Fatalf("%q, %v; want %q", got, err, line)
	}
}

func (c talk) say(t *testing.T, text string) {
	t.Helper()
	if _, err := c.in.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// dupInherited is a file that children would inherit.
func dupInherited(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD, 100)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "leak"), nil
}

// pidOf returns the first process inside, by what its descriptor says.
func pidOf(t *testing.T, p *process) int {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	data, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", p.pid1))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "\nPid:")
	pid, err := strconv.Atoi(strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0]))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
