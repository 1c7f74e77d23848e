package hook

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/reexec"
)

// TestTooMuchMemoryBlocks runs itself as a hook that takes more and more memory: it ends with
// the status that blocks, and a reason.
func TestTooMuchMemoryBlocks(t *testing.T) {
	if reexec.IsAlone() != "" {
		Options{Agent: claude(t)}.limitMemory(64<<20, os.Stderr)
		var taken [][]byte
		for range 16 << 10 {
			block := make([]byte, 1<<20)
			for i := range block {
				block[i] = 1
			}
			taken = append(taken, block)
		}
		t.Fatalf("it took %d MiB", len(taken))
	}
	out, err := reexec.Alone(t.Name(), "takes memory").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "more than 64 MiB of memory") {
		t.Errorf("it ended with %v: %s", err, out)
	}
}

// TestLittleMemoryIsFine: the watch ends with the answer, and an ordinary event passes it.
func TestLittleMemoryIsFine(t *testing.T) {
	p := newPlace(t)
	var stdout, stderr strings.Builder
	if status := Answer(t.Context(), p.options(claude(t), bash("t", "git status")), &stdout, &stderr); status != 0 {
		t.Errorf("it ended with %d: %s", status, &stderr)
	}
}

// TestALongDeadlineIsCapped: an agent that waited in vain may run the call, so the hook answers before.
func TestALongDeadlineIsCapped(t *testing.T) {
	for _, c := range []struct{ given, want time.Duration }{
		{0, 590 * time.Second}, {time.Minute, time.Minute}, {590 * time.Second, 590 * time.Second}, {30 * time.Minute, 590 * time.Second},
	} {
		p := newPlace(t)
		o := p.options(claude(t), bash("t", "git status"))
		o.Deadline = c.given
		if got := o.deadline(); got != c.want {
			t.Errorf("--deadline %v: %v, want %v", c.given, got, c.want)
		}
		var stdout, stderr strings.Builder
		if status := Answer(t.Context(), o, &stdout, &stderr); status != 0 {
			t.Fatalf("it ended with %d: %s", status, &stderr)
		}
		said := strings.Contains(stderr.String(), "--deadline 30m0s is longer than Claude Code waits for a hook; 9m50s counts")
		if said != (c.given > c.want && c.given != 0) {
			t.Errorf("--deadline %v: it says %q", c.given, &stderr)
		}
	}
}
