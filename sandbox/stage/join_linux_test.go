package stage

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/sandbox"
)

// started is a command of a test that runs in the background.
type started struct {
	t testing.TB
	sandbox.Process
	in  io.Writer
	out *os.File
}

// background starts a script that is talked to.
func (s *fixture) background(ctx context.Context, script string) *started {
	s.t.Helper()
	stdin, in, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { in.Close(); out.Close() })
	c := s.command(script)
	c.Stdin, c.Stdout, c.Stderr = stdin, stdout, os.Stderr
	p, err := s.runner.Start(ctx, c)
	if err != nil {
		s.t.Fatal(err)
	}
	stdin.Close()
	stdout.Close()
	return &started{s.t, p, in, out}
}

// line reads a line that the command prints.
func (p *started) line() string {
	p.t.Helper()
	if err := p.out.SetReadDeadline(time.Now().Add(patience)); err != nil {
		p.t.Fatal(err)
	}
	var b strings.Builder
	one := make([]byte, 1)
	for {
		if _, err := p.out.Read(one); err != nil {
			p.t.Fatalf("after %q: %v", b.String(), err)
		}
		if one[0] == '\n' {
			return b.String()
		}
		b.WriteByte(one[0])
	}
}

func (p *started) say(line string) { fmt.Fprintln(p.in, line) }

// TestJoin starts a command while another one runs: it stands in the same network, its
// connections are known as its own, and the network ends with the last of them.
func TestJoin(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "hello %s", r.Host) }))
	defer srv.Close()
	at := strings.TrimPrefix(srv.URL, "http://")
	s := newFixture(t, map[string]string{"one.example:80": at, "two.example:80": at})
	first := s.background(WithCommand(t.Context(), "first"), `
readlink /proc/self/ns/net
python3 -c '
import socket
l = socket.create_server(("127.0.0.1", 4000))
print("listening", flush=True)
c, _ = l.accept()
c.sendall(b"from the first\n")
c.close()
'
read go; curl -sS http://one.example; echo; read go`)
	space := first.line()
	if got := first.line(); got != "listening" {
		t.Fatal(got)
	}
	second := s.background(WithCommand(t.Context(), "second"), `
readlink /proc/self/ns/net; getent ahostsv4 one.example | head -1 | cut -d' ' -f1
nc -d 127.0.0.1 4000
curl -sS http://two.example; echo; read go; curl -sS http://one.example; echo`)
	if got := second.line(); got != space {
		t.Errorf("the second command is in %s, the first in %s", got, space)
	}
	if got := second.line(); !strings.HasPrefix(got, "198.18.") {
		t.Errorf("the second command's address of a name: %q", got)
	}
	if got := second.line(); got != "from the first" {
		t.Errorf("the second command hears %q", got)
	}
	if got := second.line(); got != "hello two.example" {
		t.Errorf("the second command hears %q", got)
	}
	first.say("go")
	if got := first.line(); got != "hello one.example" {
		t.Errorf("the first command hears %q", got)
	}
	first.say("go")
	if exit, err := first.Wait(); err != nil || exit != (sandbox.Exit{}) {
		t.Errorf("%+v %v", exit, err)
	}
	second.say("go")
	if got := second.line(); got != "hello one.example" {
		t.Errorf("the second command hears %q after the first has ended", got)
	}
	if exit, err := second.Wait(); err != nil || exit != (sandbox.Exit{}) {
		t.Errorf("%+v %v", exit, err)
	}
	s.mu.Lock()
	var got []string
	for _, h := range s.asked {
		got = append(got, fmt.Sprintf("%v %s %s", h.Command, h.Program, h))
	}
	s.mu.Unlock()
	if want := "second curl two.example:80, first curl one.example:80, second curl one.example:80"; strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	third := s.background(t.Context(), "readlink /proc/self/ns/net")
	if got := third.line(); got == space {
		t.Error("a command is in the network of commands that have ended")
	}
	if _, err := third.Wait(); err != nil {
		t.Error(err)
	}
}
