package stage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/bwrap"
)

// patience is how long anything may take at most.
const patience = 30 * time.Second

// TestMain lets this program be what a network starts, and a program to be killed.
func TestMain(m *testing.M) {
	reexec.Main(map[string]reexec.Role{
		"stage": reexec.Exits(Main),
		"ports": reexec.Exits(func(args []string) int {
			captureAll = func(uint16) error { return errors.New("the kernel has no nftables") }
			return Main(args)
		}),
		"sweep":  func([]string) error { return bwrap.Sweep(os.Stdin) },
		"victim": reexec.Exits(func(args []string) int { return victim(args[0], args[1]) }),
		"client": reexec.Exits(func(args []string) int {
			times, _ := strconv.Atoi(args[0])
			return client(times, args[1])
		}),
		"crowd": reexec.Exits(func(args []string) int {
			count, _ := strconv.Atoi(args[0])
			return crowd(count, args[1])
		}),
	})
	os.Exit(m.Run())
}

// helper is the command line of the helper.
func helper() []string { return reexec.Argv("stage") }

func newBwrap(t testing.TB) *bwrap.Runner {
	t.Helper()
	p, problem := bwrap.Find(context.Background(), bwrap.Candidates)
	if problem != nil {
		t.Fatalf("%+v", *problem)
	}
	r := bwrap.New(p, reexec.Argv("sweep"))
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// A fixture is a network with hosts on it that are servers of the test.
type fixture struct {
	t       testing.TB
	network *Stage
	runner  sandbox.Runner
	root    string

	mu    sync.Mutex
	hosts map[string]string // name:port or address:port to the address of a server
	asked []Host
	ended []Connection
}

func newFixture(t testing.TB, hosts map[string]string, change ...func(*Options)) *fixture {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &fixture{t: t, root: root, hosts: hosts}
	o := Options{Helper: helper(), Dial: s.dial, Ended: s.end}
	for _, f := range change {
		f(&o)
	}
	s.network = New(o)
	s.runner = s.network.Over(newBwrap(t))
	return s
}

var errNotAllowed = errors.New("the test does not allow it")

func (s *fixture) dial(ctx context.Context, h Host) (net.Conn, error) {
	s.mu.Lock()
	s.asked = append(s.asked, h)
	at := s.hosts[h.String()]
	s.mu.Unlock()
	if at == "" {
		return nil, errNotAllowed
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", at)
}

func (s *fixture) end(c Connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = append(s.ended, c)
}

// take returns what was asked for and what ended since the last time.
func (s *fixture) take() (asked []string, ended []Connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.asked {
		asked = append(asked, h.String())
	}
	slices.Sort(asked)
	ended = s.ended
	s.asked, s.ended = nil, nil
	return slices.Compact(asked), ended
}

func (s *fixture) command(script string) sandbox.Command {
	roots := []sandbox.Root{{Path: s.root, Mode: sandbox.ModeReadWrite}}
	java, _ := filepath.Glob("/etc/java-*") // without its settings it does not start
	for _, dir := range java {
		roots = append(roots, sandbox.Root{Path: dir, Mode: sandbox.ModeReadOnly})
	}
	return sandbox.Command{
		Argv: []string{"/bin/sh", "-c", script}, Dir: s.root, Env: []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/home/nobody"},
		Profile: sandbox.Profile{
			Roots:   roots,
			Network: sandbox.Network{ByName: true},
		},
	}
}

// run runs a script in the network and returns its status and what it printed.
func (s *fixture) run(script string) (int, string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var out bytes.Buffer
	c := s.command(script)
	c.Stdout, c.Stderr = &out, &out
	exit, err := sandbox.Run(ctx, s.runner, c)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, out.String())
	}
	if exit.Ended != "" {
		s.t.Fatalf("%s: %+v\n%s", script, exit, out.String())
	}
	return exit.Code, strings.TrimSpace(out.String())
}

// victim runs a script in a network and is meant to be killed.
func victim(root, script string) int {
	p, problem := bwrap.Find(context.Background(), bwrap.Candidates)
	if problem != nil {
		fmt.Fprintln(os.Stderr, *problem)
		return 1
	}
	s := New(Options{Helper: helper(), Dial: func(ctx context.Context, h Host) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	_, err := sandbox.Run(context.Background(), s.Over(bwrap.New(p, reexec.Argv("sweep"))), sandbox.Command{
		Argv: []string{"/bin/sh", "-c", script}, Dir: root, Env: []string{"PATH=/usr/bin:/bin"}, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Profile: sandbox.Profile{Roots: []sandbox.Root{{Path: root, Mode: sandbox.ModeReadWrite}}, Network: sandbox.Network{ByName: true}},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
