//go:build all

package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// buildFor does what the README says: a clone, and make install.
func buildFor(t *testing.T, home string) {
	t.Helper()
	source, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	clone := filepath.Join(t.TempDir(), "assent")
	for _, c := range []*exec.Cmd{
		exec.Command("git", "clone", "-q", source, clone), // what is not committed is not there
		exec.Command("make", "-C", clone, "install", "PREFIX="+filepath.Join(home, ".local")),
	} {
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c, err, out)
		}
	}
}
