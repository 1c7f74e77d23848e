//go:build all

package main

import (
	"os"
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
	tree := filepath.Join(t.TempDir(), "assent")
	if _, err := os.Stat(filepath.Join(source, ".git")); err == nil {
		clone := exec.Command("git", "clone", "-q", source, tree) // what is not committed is not there
		clone.Env = append(os.Environ(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
		succeeds(t, clone)
	} else if err := os.CopyFS(tree, os.DirFS(source)); err != nil { // of an archive
		t.Fatal(err)
	}
	succeeds(t, exec.Command("make", "-C", tree, "install", "PREFIX="+filepath.Join(home, ".local")))
}

func succeeds(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", c, err, out)
	}
}
