package store_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/assent-dev/assent/store"
)

// The test binary is another process of the same user when it is started with
// these: what it does, and the folder of the store.
const (
	jobEnv    = "ASSENT_STORE_JOB"
	folderEnv = "ASSENT_STORE_FOLDER"
)

// patience is how long processes that write at once wait for each other: on a busy machine
// that may be long.
const patience = time.Minute

// A job is what another process does with a store until it is done or killed.
type job func(ctx context.Context, s *store.Store) error

func TestMain(m *testing.M) {
	if name := os.Getenv(jobEnv); name != "" {
		if err := runJob(name, os.Getenv(folderEnv)); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	status := m.Run()
	afterwards()
	os.Exit(status)
}

// begun is when the process began, after the runtime.
var begun = time.Now()

// afterwards removes what several benchmarks share.
var afterwards = func() {}

func runJob(name, folder string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, folder, store.Options{RuleLimit: 1000, Patience: patience})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if err := jobs[name](ctx, s); err != nil {
		return err
	}
	return s.Close()
}

// A process runs a job.
type process struct {
	t     testing.TB
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

// start runs a job in a process of its own, and waits until it has opened the
// store.
func start(t testing.TB, name, folder string) *process {
	t.Helper()
	p := launch(t, name, folder)
	if got := p.line(); got != "ready" {
		t.Fatalf("%s says %q", name, got)
	}
	return p
}

func launch(t testing.TB, name, folder string) *process {
	t.Helper()
	if jobs[name] == nil {
		t.Fatalf("there is no job %q", name)
	}
	p := &process{t: t, cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), jobEnv+"="+name, folderEnv+"="+folder)
	p.cmd.Stderr = os.Stderr
	_, err := p.cmd.StdinPipe() // open as long as the test
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(out)
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		p.cmd.Wait() // then the folder can be removed
	})
	return p
}

// line waits for the next line of the process; empty at its end.
func (p *process) line() string {
	p.lines.Scan()
	return p.lines.Text()
}

// kill ends the process as kill -9 does, and returns how many lines it had
// written that were not read.
func (p *process) kill() (rest int) {
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	rest = p.rest()
	p.cmd.Wait()
	return rest
}

// rest reads until the process ends, and returns how many lines there were.
func (p *process) rest() (n int) {
	for p.lines.Scan() {
		n++
	}
	return n
}

// wait waits until the process has done its job.
func (p *process) wait() {
	p.t.Helper()
	p.rest()
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the process failed: %v", err)
	}
}
