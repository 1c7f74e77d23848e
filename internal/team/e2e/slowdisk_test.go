//go:build teame2e && linux

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A slow disk makes each commit wait so long.
const slowLeast, slowMost = 20 * time.Millisecond, 200 * time.Millisecond

// slowDisk compiles what makes the disk of PostgreSQL slow while the flag exists, and returns the environment that loads it.
// It lies beside the database, where the server's user may read it.
func (s *stage) slowDisk() []string {
	s.Helper()
	out, err := exec.Command("go", "env", "CC").Output()
	s.must(err)
	compiler, library := strings.Fields(string(out)), filepath.Join(s.disk(), "slowdisk.so")
	args := append(compiler[1:], "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", library, "testdata/slowdisk.c", "-ldl")
	if out, err := exec.Command(compiler[0], args...).CombinedOutput(); err != nil {
		s.Fatalf("%s: %v\n%s", compiler[0], err, out)
	}
	return []string{"LD_PRELOAD=" + library, "SLOW_DISK_WHILE=" + s.slowFlag(),
		fmt.Sprint("SLOW_DISK_LEAST=", slowLeast.Milliseconds()), fmt.Sprint("SLOW_DISK_MOST=", slowMost.Milliseconds())}
}

func (s *stage) slowFlag() string { return filepath.Join(s.disk(), "slow") }

// slow makes the disk slow, and checks that it is: a commit takes as long as the disk does at least.
func (s *stage) slow() {
	s.Helper()
	commit := func() error {
		_, err := s.db.JoinToken(s.Context(), s.team.Bundle.People[0].ID, "test", time.Hour)
		return err
	}
	// A connection that a fault before this one broke is found and made anew by now, and is not what takes time.
	s.eventually("the database takes a write", func() bool { return commit() == nil })
	s.must(os.WriteFile(s.slowFlag(), nil, 0o644))
	began := time.Now()
	s.must(commit())
	if took := time.Since(began); took < slowLeast {
		s.Errorf("the disk is not slow: a commit took %v", took)
	}
}

func (s *stage) quick() {
	s.Helper()
	s.must(os.Remove(s.slowFlag()))
}
