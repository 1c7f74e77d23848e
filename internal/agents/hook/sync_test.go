package hook

import (
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/store"
)

// TestADiskThatHangs has a log that nobody can open, as on a disk that does not answer: the
// process must end while the agent still waits for it, with a status that blocks.
func TestADiskThatHangs(t *testing.T) {
	state := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(state, store.FileName+"-wal"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	status := make(chan int)
	o := Options{Agent: claude(t), Input: strings.NewReader("{"), Places: setup.Places{State: state}, Deadline: 100 * time.Millisecond}
	go func() { status <- Answer(t.Context(), o, io.Discard, &stderr) }()
	select {
	case got := <-status:
		if got != 2 || !strings.Contains(stderr.String(), "not on the disk within 100ms") {
			t.Errorf("it ended with %d, and %q", got, &stderr)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits without end")
	}
}

// TestAConfigThatOnlyObservesBlocksNothingAtTheEnd has a state folder that is none: what
// cannot be recorded is not brought to the disk either.
func TestAConfigThatOnlyObservesBlocksNothingAtTheEnd(t *testing.T) {
	p := newPlace(t)
	p.write("config/config.yaml", "hook: {observe: true}\n")
	p.write("file", "")
	o := p.options(claude(t), bash("t", "git push"))
	o.Places.State = filepath.Join(p.top, "file")
	var stdout, stderr strings.Builder
	if status := Answer(t.Context(), o, &stdout, &stderr); status != 0 || stdout.String() != "" {
		t.Errorf("it ended with %d, and %q: %s", status, &stdout, &stderr)
	}
}
