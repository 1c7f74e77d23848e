package main

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// TestASignalBlocks ends the program while it waits for its input: the agent must not take
// that for a yes.
func TestASignalBlocks(t *testing.T) {
	program := build(t, t.TempDir())
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		c := exec.Command(program, "claude-code")
		c.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// It reads its input once it catches signals: what does not fit into the pipe is
		// taken only then.
		if _, err := in.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		if err := c.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		var exit *exec.ExitError
		if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 2 {
			t.Errorf("%v: it ended with %v, want status 2", signal, err)
		}
		in.Close()
	}
}
