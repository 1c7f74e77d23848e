package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/assent-dev/assent/internal/team/testissuer"
)

// patience is how long anything may take that should take no time, on a busy machine.
const patience = 60 * time.Second

// A failure ends the story: something did not go as it should. It is a panic so that a story reads as one.
type failure struct{ error }

func fail(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

func must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// A stage is what the story plays on: a folder, programs that run, machines and people.
type stage struct {
	options
	ctx     context.Context
	began   time.Time
	dir     string
	program string
	endings []func() // the last first

	trust, logKey  string // the public halves of the team's key and of the log's
	issuer         *testissuer.Issuer
	front          *front
	replicas       []*replica
	laptop, build  *machine
	desk           *machine
	ann, bob, cleo *person
	before         string         // a file with an early checkpoint
	deleted        string         // the request whose answer is proved in the end
	roots          *x509.CertPool // the authority of the demo
}

func newStage(ctx context.Context, o options) (*stage, error) {
	dir, err := os.MkdirTemp("", "assent-team-")
	if err != nil {
		return nil, err
	}
	// PostgreSQL may run as another user, who must get to its own folder below; it cannot look around here.
	if err := os.Chmod(dir, 0o711); err != nil {
		return nil, err
	}
	s := &stage{options: o, ctx: ctx, began: time.Now(), dir: dir, program: filepath.Join(dir, "bin", "assent"), roots: x509.NewCertPool()}
	s.ending(func() { _ = os.RemoveAll(dir) })
	return s, nil
}

// ending has something done when everything ends.
func (s *stage) ending(f func()) { s.endings = append(s.endings, f) }

// clear ends everything, in the reverse order of its beginning.
func (s *stage) clear() {
	for _, end := range slices.Backward(s.endings) {
		end()
	}
}

// path is a file in the folder of the demo.
func (s *stage) path(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}

// write makes a file that nobody else reads, with its folder.
func (s *stage) write(text string, parts ...string) string {
	file := s.path(parts...)
	must(os.MkdirAll(filepath.Dir(file), 0o700))
	must(os.WriteFile(file, []byte(text), 0o600))
	return file
}

// What is printed: a heading, what happens, and what was checked.
func (s *stage) act(title string) { fmt.Printf("\n%s\n", title) }

func (s *stage) say(format string, args ...any) { fmt.Printf("  %s\n", fmt.Sprintf(format, args...)) }

// ok says what went as it should. It is called after the check.
func (s *stage) ok(format string, args ...any) {
	fmt.Printf("  ✓ %s\n", fmt.Sprintf(format, args...))
}

// quote prints what a program or a page said.
func (s *stage) quote(text string) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		fmt.Printf("      │ %s\n", strings.TrimRight(line, "\n"))
	}
}

// A command is a program of the demo with what it said.
type command struct {
	*exec.Cmd
	out, errors bytes.Buffer
	ended       chan struct{}
}

// command is assent with these arguments, at a home of its own. It has no terminal, even if the demo has one:
// questions go elsewhere.
func (s *stage) command(home string, environment []string, args ...string) *command {
	c := &command{Cmd: exec.Command(s.program, args...), ended: make(chan struct{})}
	c.Dir = home
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + s.dir, "LANG=C.UTF-8", "USER=" + filepath.Base(home),
		"XDG_CONFIG_HOME=" + filepath.Join(home, "config"), "XDG_STATE_HOME=" + filepath.Join(home, "state")}, environment...)
	c.Stdout, c.Stderr = &c.out, &c.errors
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return c
}

func (s *stage) start(c *command) *command {
	if s.verbose {
		fmt.Printf("      $ assent %s\n", strings.Join(c.Args[1:], " "))
	}
	must(c.Start())
	go func() {
		_ = c.Wait() // its state says how it ended
		close(c.ended)
	}()
	s.ending(c.kill)
	return c
}

// kill ends a program that still runs.
func (c *command) kill() {
	select {
	case <-c.ended:
	default:
		_ = c.Process.Kill()
		<-c.ended
	}
}

// finish waits for a program and returns its status.
func (s *stage) finish(c *command) int {
	select {
	case <-c.ended:
		return c.ProcessState.ExitCode()
	case <-s.ctx.Done():
		panic(failure{context.Cause(s.ctx)})
	case <-time.After(patience):
		fail("assent %s does not end", strings.Join(c.Args[1:], " "))
	}
	return 0
}

// said is all that a program printed.
func (c *command) said() string { return strings.TrimSpace(c.out.String() + c.errors.String()) }

// works finishes a program that must succeed, and returns its standard output.
func (s *stage) works(c *command) string {
	if status := s.finish(c); status != 0 {
		fail("assent %s: status %d: %s", strings.Join(c.Args[1:], " "), status, c.said())
	}
	return strings.TrimSpace(c.out.String())
}

// refused finishes a program that must end with the status and say why.
func (s *stage) refused(c *command, status int, why string) string {
	if got := s.finish(c); got != status || !strings.Contains(c.said(), why) {
		fail("assent %s: status %d, want %d and %q: %s", strings.Join(c.Args[1:], " "), got, status, why, c.said())
	}
	return c.said()
}

// until waits until f finds what it looks for.
func (s *stage) until(what string, f func() bool) time.Duration {
	began := time.Now()
	for over := time.After(patience); !f(); {
		select {
		case <-s.ctx.Done():
			panic(failure{context.Cause(s.ctx)})
		case <-over:
			fail("%s did not happen within %v", what, patience)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return time.Since(began)
}

// admin runs a command of who administers the team, beside the server.
func (s *stage) admin(args ...string) string {
	return s.works(s.start(s.command(s.path("admin"), nil, append(args, "--config", s.path("serve", "serve.yaml"))...)))
}

// showLogs prints the ends of the logs, for who looks for what went wrong.
func (s *stage) showLogs() {
	files := []string{s.path("postgres", "log")}
	for _, r := range s.replicas {
		fmt.Fprintf(os.Stderr, "\n%s:\n%s\n", r.name, tail(r.errors.String()))
	}
	for _, m := range []*machine{s.laptop, s.build, s.desk} {
		if m != nil {
			files = append(files, m.state("team", "bridge.log"), m.state("team", "status.json"))
		}
	}
	for _, file := range files {
		if data, err := os.ReadFile(file); !errors.Is(err, os.ErrNotExist) {
			fmt.Fprintf(os.Stderr, "\n%s:\n%s\n", file, tail(string(data)))
		}
	}
}

func tail(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}
