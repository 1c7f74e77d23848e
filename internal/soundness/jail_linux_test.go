package soundness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// inJail is the variable by which the test binary knows that it is the worker.
const inJail = "ASSENT_SOUND_WORKER"

// A question is a command to try. First is the policy that is asked first.
type question struct {
	Text  string
	First int
	// Instead, if not empty, runs in the place of what was judged, to see whether that
	// is noticed.
	Instead string
}

// A jail is a worker that judges and runs commands.
type jail struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// newJail starts a worker with what lies in the folder.
func newJail(top string) (*jail, error) {
	args, err := layout(top)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("bwrap", args...)
	cmd.Env = []string{inJail + "=1", "PATH=/usr/bin"}
	cmd.Stderr = os.Stderr
	j := &jail{cmd: cmd}
	if j.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	j.out = bufio.NewScanner(out)
	j.out.Buffer(nil, 64<<20)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("the tests need bubblewrap: %w", err)
	}
	return j, nil
}

// layout is the command line of bwrap: a root in memory with the system's libraries, the
// spies where programs are, and everything of ours below /w.
func layout(top string) ([]string, error) {
	args := []string{
		"--unshare-user", "--uid", "1000", "--gid", "1000", "--unshare-net", "--unshare-pid", "--unshare-ipc",
		"--die-with-parent", "--new-session",
		"--tmpfs", "/", "--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
	}
	for _, name := range []string{"bin", "sbin", "lib", "lib64", "lib32"} {
		target, err := os.Readlink("/" + name)
		switch {
		case os.IsNotExist(err):
		case err != nil:
			return nil, fmt.Errorf("this needs a system whose /%s is a link into /usr: %w", name, err)
		default:
			args = append(args, "--symlink", target, "/"+name)
		}
	}
	return append(args,
		"--tmpfs", "/w", "--ro-bind", "/usr/bin", "/w/bin", "--ro-bind", filepath.Join(top, "real"), "/w/real",
		"--ro-bind", filepath.Join(top, "limit"), "/w/limit", "--ro-bind", filepath.Join(top, "worker"), "/w/worker",
		"--ro-bind", filepath.Join(top, "spies"), "/usr/bin", "--tmpfs", "/usr/sbin", "--tmpfs", "/usr/local/bin",
		"--", "/w/worker"), nil
}

// try has a command judged, and run if a policy allows it.
func (j *jail) try(q question) (answer, error) {
	answers, err := j.tryAll([]question{q})
	if err != nil {
		return answer{}, err
	}
	return answers[0], nil
}

// tryAll tries many, so that neither side waits for the other after each. They have to
// fit into a pipe.
func (j *jail) tryAll(list []question) ([]answer, error) {
	var lines bytes.Buffer
	out := json.NewEncoder(&lines)
	for _, q := range list {
		if err := out.Encode(q); err != nil {
			return nil, err
		}
	}
	if _, err := j.in.Write(lines.Bytes()); err != nil {
		return nil, fmt.Errorf("the worker ended: %w", err)
	}
	answers := make([]answer, len(list))
	for i := range answers {
		if !j.out.Scan() {
			return nil, fmt.Errorf("the worker ended at %q: %v, %v", list[i].Text, j.out.Err(), j.cmd.Wait())
		}
		if err := json.Unmarshal(j.out.Bytes(), &answers[i]); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

func (j *jail) close() {
	_ = j.in.Close() // it ends by itself then
	_ = j.cmd.Wait()
}

// kitFolder has what jails are made of, once buildKit has built it for all tests.
var kitFolder string

var buildKit = sync.OnceValue(func() error {
	return errors.Join(buildSpies(kitFolder), buildWorker(kitFolder))
})

// buildWorker builds this package once more: the detector of races and the fuzzer's
// counters would take most of the time of the worker, which does one thing at a time.
func buildWorker(top string) error {
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-o", filepath.Join(top, "worker"), ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the worker does not compile: %w\n%s", err, out)
	}
	return nil
}
