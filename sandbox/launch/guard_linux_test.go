package launch_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

// A command can leave a pipe with the name of a repository; nobody waits for it.
func TestAPipeNamedGit(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(top+"/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(top+"/sub/.git", 0o600); err != nil {
		t.Fatal(err)
	}
	root := sandbox.Root{Path: top, Mode: sandbox.ModeReadWrite, Guarded: true}
	if _, err := launch.Survey(sandbox.Profile{Roots: []sandbox.Root{root}}); err != nil {
		t.Error(err)
	}
}
