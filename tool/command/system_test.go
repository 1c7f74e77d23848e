package command

import (
	"os"
	"path/filepath"
	"testing"
)

// A program of the system is read once; what this user can write, each time.
func TestWhatIsNotReadAgain(t *testing.T) {
	sh, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), "own")
	if err := os.WriteFile(own, []byte("x"), 0o755); err != nil {
		t.Fatal(err)
	}
	var p Programs
	for range 2 {
		for _, file := range []string{sh, own} {
			if _, err := p.digest(file, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(p.known) != 1 {
		t.Errorf("%d digests are kept, want that of %s alone", len(p.known), sh)
	}
}
