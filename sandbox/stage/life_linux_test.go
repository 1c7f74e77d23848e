package stage

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/sandbox"
)

// crowd is what this program does as many clients at once: all connect, and then all send a
// byte and read it again.
func crowd(count int, address string) int {
	var connected, done sync.WaitGroup
	failed := make(chan error, count)
	connected.Add(count)
	for range count {
		done.Go(func() {
			c, err := net.Dial("tcp", address)
			connected.Done()
			connected.Wait()
			if err == nil {
				defer c.Close()
				_, err = c.Write([]byte{0}) // nothing that could become a request
			}
			if err == nil {
				_, err = io.ReadFull(c, make([]byte, 1))
			}
			if err != nil {
				failed <- err
			}
		})
	}
	done.Wait()
	fmt.Printf("%d of %d failed\n", len(failed), count)
	if len(failed) > 0 {
		fmt.Println(<-failed)
		return 1
	}
	return 0
}

// echo is a server that repeats what it hears.
func echo(t testing.TB) string { return serveConns(t, func(c net.Conn) { io.Copy(c, c) }) }

// serveConns returns the address of a server that does this with each connection.
func serveConns(t testing.TB, with func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); with(c) }()
		}
	}()
	return l.Addr().String()
}

// inUse are the goroutines and open files of this program.
func inUse(t testing.TB) (goroutines, files int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return runtime.NumGoroutine(), len(entries)
}

// eventually waits until nothing is left, looking as often as the machine lets it.
func eventually(t *testing.T, what string, left func() string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for text := left(); text != ""; text = left() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v: %s", what, patience, text)
		}
		runtime.Gosched()
	}
}

// TestCrowd has a command make 1,000 connections at once. All work, and when it has ended
// nothing is left of them.
func TestCrowd(t *testing.T) {
	at := echo(t)
	s := newFixture(t, map[string]string{"host.example:7": at})
	s.installClient(t)
	s.run("true") // what is made once is made by now
	goroutines, files := inUse(t)
	code, out := s.run("./client crowd 1000 host.example:7")
	if code != 0 {
		t.Errorf("status %d: %s", code, out)
	}
	if _, ended := s.take(); len(ended) != 1000 {
		t.Errorf("%d connections ended", len(ended))
	}
	eventually(t, "the end of all connections", func() string {
		// Pipes through which bytes were carried are kept for others until memory is cleaned up.
		runtime.GC()
		if g, f := inUse(t); g > goroutines+2 || f > files+2 {
			return fmt.Sprintf("%d goroutines and %d files, before %d and %d", g, f, goroutines, files)
		}
		return ""
	})
}

// TestHeld has a connection that is decided about only when its command has given up, ended, or
// said all it has to say.
func TestHeld(t *testing.T) {
	at := echo(t)
	held := make(chan context.Context, 1)
	answer := make(chan struct{})
	s := newFixture(t, nil, func(o *Options) {
		o.Dial = func(ctx context.Context, h Host) (net.Conn, error) {
			held <- ctx
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-answer:
				return net.Dial("tcp", at)
			}
		}
	})
	wait := func() context.Context {
		t.Helper()
		select {
		case ctx := <-held:
			return ctx
		case <-time.After(patience):
			t.Fatal("nobody asks")
			return nil
		}
	}
	over := func(ctx context.Context) {
		t.Helper()
		select {
		case <-ctx.Done():
		case <-time.After(patience):
			t.Fatal("the question outlives its connection")
		}
	}

	gaveUp := s.background(t.Context(), `/usr/bin/python3 -c '
import socket
c = socket.create_connection(("host.example", 7)); c.sendall(b"x"); input(); c.close(); input()'`)
	ctx := wait()
	if ctx.Err() != nil {
		t.Fatal("the question is over before its connection")
	}
	gaveUp.say("close")
	over(ctx)
	gaveUp.say("end")
	if exit, err := gaveUp.Wait(); err != nil || exit.Code != 0 {
		t.Errorf("%+v %v", exit, err)
	}

	ended := s.background(t.Context(), `/usr/bin/python3 -c '
import socket
c = socket.create_connection(("host.example", 7)); input()'`)
	ctx = wait()
	ended.say("end")
	over(ctx)
	if _, err := ended.Wait(); err != nil {
		t.Error(err)
	}

	cancelled, cancel := context.WithCancel(t.Context())
	killed := s.background(cancelled, `/usr/bin/python3 -c '
import socket
c = socket.create_connection(("host.example", 7)); input()'`)
	ctx = wait()
	cancel()
	over(ctx)
	if exit, err := killed.Wait(); err != nil || exit.Ended != sandbox.EndingCancelled {
		t.Errorf("%+v %v", exit, err)
	}

	half := s.background(t.Context(), `/usr/bin/python3 -c '
import socket
c = socket.create_connection(("host.example", 7)); c.sendall(b"said\n"); c.shutdown(socket.SHUT_WR); print("waits", flush=True); print(c.makefile().read(), flush=True)'`)
	ctx = wait()
	if got := half.line(); got != "waits" {
		t.Fatal(got)
	}
	select {
	case <-ctx.Done():
		t.Fatal("a client that waits for an answer is taken for one that has gone")
	case <-time.After(2 * pauseHalfOpen):
	}
	close(answer)
	if got := half.line(); got != "said" {
		t.Errorf("heard %q", got)
	}
	if _, err := half.Wait(); err != nil {
		t.Error(err)
	}
}

// TestKilled kills a program in the middle of a command with connections. Nothing stays: no
// process, and with the last process its network.
func TestKilled(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		cmd := reexec.Command("victim", root, `
readlink /proc/self/ns/net
/usr/bin/python3 -c '
import socket
cs = [socket.create_connection(("10.0.0.1", 1000 + i)) for i in range(200)]
print("connected", flush=True); cs[0].recv(1); __import__("time").sleep(1000)'`)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		lines.Scan()
		space := lines.Text()
		if lines.Scan(); lines.Text() != "connected" || !strings.HasPrefix(space, "net:[") {
			t.Fatalf("%q %q", space, lines.Text())
		}
		if len(in(space)) == 0 {
			t.Fatal("no process is found in the network")
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		eventually(t, "the end of all processes", func() string { return strings.Join(in(space), " ") })
	}
}

// TestKilledEarly kills a program while it starts a command in a network.
func TestKilledEarly(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	word := fmt.Sprintf("assent-stage-killed-%d", os.Getpid())
	for after := range 15 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(2*after)*time.Millisecond)
		stdin, hold, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(ctx, reexec.Self(), "victim", root, "read go; : "+word)
		cmd.Stdin = stdin
		_ = cmd.Run() // it is killed
		cancel()
		eventually(t, "the end of all processes", func() string {
			files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // processes come and go
			for _, f := range files {
				if data, err := os.ReadFile(f); err == nil && bytes.Contains(data, []byte(word)) {
					return f
				}
			}
			return ""
		})
		stdin.Close()
		hold.Close()
	}
}

// in lists the processes in a network namespace.
func in(space string) []string {
	links, _ := filepath.Glob("/proc/[0-9]*/ns/net") // processes come and go
	var out []string
	for _, l := range links {
		if target, err := os.Readlink(l); err == nil && target == space {
			out = append(out, l)
		}
	}
	return out
}

// TestPorts has a kernel that does not let all ports be captured. Those that are captured are
// known; others are refused without a question.
func TestPorts(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "hello %s", r.Host) }))
	defer srv.Close()
	at := srv.Listener.Addr().String()
	s := newFixture(t, map[string]string{"good.example:80": at, "good.example:7777": at, "203.0.113.7:80": at}, func(o *Options) {
		o.Helper = reexec.Argv("ports")
		o.Ports = []uint16{7777, 80}
	})
	for script, want := range map[string]string{
		"curl -sS http://good.example/":      "hello good.example",
		"curl -sS http://good.example:7777/": "hello good.example:7777",
		"curl -sS http://203.0.113.7/":       "hello 203.0.113.7",
		"curl -sS http://good.example:7778/": "port 7778",
		"curl -sS http://127.0.0.1:80/":      "curl: (",
		"curl -sS http://bad.example/":       "curl: (",
	} {
		if _, out := s.run(script); !strings.Contains(out, want) {
			t.Errorf("%s: %s", script, out)
		}
	}
	asked, _ := s.take()
	if want := []string{"203.0.113.7:80", "bad.example:80", "good.example:7777", "good.example:80"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q", asked)
	}
	if ports := s.network.Captured(); !slices.Contains(ports, 443) || !slices.Contains(ports, 7777) || slices.Contains(ports, 7778) {
		t.Errorf("captured: %v", ports)
	}
	all := newFixture(t, nil)
	all.run("true")
	if ports := all.network.Captured(); ports != nil {
		t.Errorf("all are captured, not %v", ports)
	}
}

// TestLocal has a port of this machine's loopback on that of the command.
func TestLocal(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "a server for development") }))
	defer srv.Close()
	s := newFixture(t, map[string]string{"127.0.0.1:80": srv.Listener.Addr().String()}, func(o *Options) { o.Local = []uint16{80, 3000} })
	for _, host := range []string{"127.0.0.1", "localhost", "'[::1]'"} {
		if _, out := s.run("curl -gsS http://" + host + "/"); out != "a server for development" {
			t.Errorf("%s: %s", host, out)
		}
	}
	if _, out := s.run("curl -sS http://localhost:3000/"); !strings.Contains(out, "curl: (") {
		t.Errorf("a port that is refused: %s", out)
	}
	asked, ended := s.take()
	if want := []string{"127.0.0.1:3000", "127.0.0.1:80"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q", asked)
	}
	for _, c := range ended {
		if c.Host.Program != "curl" {
			t.Errorf("%s: the program is %q", c.Host, c.Host.Program)
		}
	}
}

// TestRefused has stages that cannot be made, and those that allow nothing.
func TestRefused(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"no command line":     func(o *Options) { o.Helper = nil },
		"no such file":        func(o *Options) { o.Helper = []string{"/nowhere/helper"} },
		"before it was ready": func(o *Options) { o.Helper = []string{"/bin/false"} },
		"more than 64":        func(o *Options) { o.Local = make([]uint16, 65) },
		"invalid port":        func(o *Options) { o.Local = []uint16{0} },
	} {
		s := newFixture(t, nil, change)
		var out bytes.Buffer
		c := s.command("echo it runs")
		c.Stdout = &out
		_, err := sandbox.Run(t.Context(), s.runner, c)
		if err == nil || !strings.Contains(err.Error(), name) || out.Len() > 0 {
			t.Errorf("%s: %v, %s", name, err, out.String())
		}
		// Without network by name there is no network to make.
		c = s.command("exit 7")
		c.Profile.Network = sandbox.Network{}
		if exit, err := sandbox.Run(t.Context(), s.runner, c); err != nil || exit.Code != 7 {
			t.Errorf("%s: without the stage: %+v %v", name, exit, err)
		}
	}
	s := newFixture(t, nil, func(o *Options) { o.Dial = nil })
	if code, out := s.run("curl -sS http://x.example/"); code == 0 {
		t.Error(out)
	}
	if _, ended := s.take(); len(ended) != 1 || !errors.Is(ended[0].Err, errNoDial) {
		t.Errorf("%+v", ended)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sandbox.Run(ctx, s.runner, s.command("true")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestTogether starts commands at once: they share one network.
func TestTogether(t *testing.T) {
	s := newFixture(t, nil)
	spaces := make([]string, 8)
	var all, group sync.WaitGroup
	all.Add(len(spaces))
	for i := range spaces {
		group.Go(func() {
			p := s.background(t.Context(), "readlink /proc/self/ns/net; read go")
			spaces[i] = p.line()
			all.Done()
			all.Wait()
			p.say("go")
			if _, err := p.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if len(slices.Compact(spaces)) != 1 {
		t.Errorf("networks: %q", spaces)
	}
}

// TestUserNamespace makes a network as root where that needs a user namespace as well.
func TestUserNamespace(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "hello %s", r.Host) }))
	defer srv.Close()
	s := newFixture(t, map[string]string{"good.example:80": srv.Listener.Addr().String()})
	s.network.plain = false
	first := s.background(t.Context(), "readlink /proc/self/ns/net; read go")
	defer first.Wait()
	defer first.say("go")
	if _, out := s.run("readlink /proc/self/ns/net; curl -sS http://good.example/"); out != first.line()+"\nhello good.example" {
		t.Error(out)
	}
}

// TestTimePassed ends a command by its time, also while its network is being made.
func TestTimePassed(t *testing.T) {
	s := newFixture(t, nil)
	for _, limit := range []time.Duration{1, time.Millisecond, 5 * time.Millisecond, 100 * time.Millisecond} {
		c := s.command("read go")
		stdin, hold, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		c.Stdin, c.Profile.Limits.Time = stdin, limit
		exit, err := sandbox.Run(t.Context(), s.runner, c)
		if err != nil || exit.Ended != sandbox.EndingTime {
			t.Errorf("%v: %+v %v", limit, exit, err)
		}
		stdin.Close()
		hold.Close()
	}
	s.run("true")
}

// TestSentBefore has a command that sends something and ends at once. It arrives, also if the
// connection outside opens later than that.
func TestSentBefore(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	came := make(chan string)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			text, err := io.ReadAll(c)
			c.Close()
			came <- fmt.Sprint(len(text), err)
		}
	}()
	for _, late := range []time.Duration{0, 100 * time.Millisecond} {
		s := newFixture(t, nil, func(o *Options) {
			o.Dial = func(ctx context.Context, _ Host) (net.Conn, error) {
				select {
				case <-ctx.Done():
					return nil, ctx.Err()
				case <-time.After(late):
					return net.Dial("tcp", l.Addr().String())
				}
			}
		})
		p := s.background(t.Context(), `/usr/bin/python3 -c '
import socket
c = socket.create_connection(("host.example", 2003)); c.sendall(b"\0" * 100000)'`)
		select {
		case got := <-came:
			if got != "100000 <nil>" {
				t.Errorf("%v later: %s", late, got)
			}
		case <-time.After(patience):
			t.Errorf("%v later: nothing came", late)
		}
		if _, err := p.Wait(); err != nil {
			t.Error(err)
		}
		if _, ended := s.take(); len(ended) != 1 || ended[0].Err != nil || ended[0].Sent != 100000 {
			t.Errorf("%v later: %+v", late, ended)
		}
	}
}

// TestBroken has a host that resets the connection in the middle: so it is for the command.
func TestBroken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("half of it"))
			_, _ = c.Read(make([]byte, 1)) // until it has come
			reset(c.(*net.TCPConn))
		}
	}()
	s := newFixture(t, map[string]string{"host.example:9": l.Addr().String(), "10.0.0.1:9": l.Addr().String()})
	for _, host := range []string{"host.example", "10.0.0.1"} {
		_, out := s.run(`/usr/bin/python3 -c '
import socket
c = socket.create_connection(("` + host + `", 9)); print(c.recv(100)); c.sendall(b"\0")
try: print(c.recv(1))
except OSError as e: print(e.strerror)'`)
		if want := "b'half of it'\nConnection reset by peer"; out != want {
			t.Errorf("%s: %q", host, out)
		}
	}
}
