//go:build !all

package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// buildFor puts the programs where a newcomer has them; make test-all clones and installs instead.
func buildFor(t *testing.T, home string) {
	t.Helper()
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", filepath.Join(home, ".local/bin")+"/", "./cmd/...")
	build.Dir = filepath.Join("..", "..")
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
