package system

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/tool/shell/analysis"
)

// A file is remembered only under the signature that it has on disk.
func TestRememberedFilesHaveTheirSignature(t *testing.T) {
	path := t.TempDir() + "/config"
	if err := os.WriteFile(path, []byte("[a]\nb = disk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	kept := gitFile{[]analysis.Setting{{Key: "a.b", Value: "kept"}}, true}
	current := sign(&st)
	for name, tt := range map[string]struct {
		change func(*signature)
		want   string
	}{
		"the same":      {func(*signature) {}, "kept"},
		"another disk":  {func(s *signature) { s.device++ }, "disk"},
		"another inode": {func(s *signature) { s.inode++ }, "disk"},
		"another size":  {func(s *signature) { s.size++ }, "disk"},
		"modified":      {func(s *signature) { s.modified.Nsec++ }, "disk"},
		"renamed":       {func(s *signature) { s.changedMeta.Nsec++ }, "disk"},
	} {
		sig := current
		tt.change(&sig)
		keepGitFile(path, gitEntry{sig, kept})
		if got := readGitFile(path); !got.ok || got.settings[0].Value != tt.want {
			t.Errorf("%s: %+v, want %s", name, got, tt.want)
		}
	}
}

// A file that changed a moment ago may change again without a new signature.
func TestFreshFilesAreNotRemembered(t *testing.T) {
	now := time.Unix(1000, 0)
	for age, want := range map[time.Duration]bool{0: false, time.Second: false, settled: false, settled + 1: true, -time.Hour: false} {
		changed, err := unix.TimeToTimespec(now.Add(-age))
		if err != nil {
			t.Fatal(err)
		}
		if got := (signature{inode: 1, changedMeta: changed}).oldAt(now); got != want {
			t.Errorf("changed %v ago: old %v, want %v", age, got, want)
		}
	}
	if (signature{}).oldAt(now) {
		t.Error("what could not be read is remembered")
	}
}
