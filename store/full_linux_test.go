package store_test

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/store"
)

// TestAFullDiskRefuses records until the disk is full: a small one of its own, and
// one whose files may not grow. What was recorded stays, what cannot be is said,
// nothing runs, and when there is room again recording goes on.
func TestAFullDiskRefuses(t *testing.T) {
	if how := reexec.IsAlone(); how != "" {
		fill(t, how)
		return
	}
	for how, attr := range map[string]*syscall.SysProcAttr{
		"disk": {
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		},
		"limit": {},
	} {
		t.Run(how, func(t *testing.T) {
			cmd := reexec.Alone("TestAFullDiskRefuses", how)
			cmd.SysProcAttr = attr
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func fill(t *testing.T, how string) {
	folder := t.TempDir()
	stopped, room := smallDisk, freeDisk
	if how == "limit" {
		stopped, room = limitFiles, unlimitFiles
	}
	if err := stopped(folder); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(folder, syscall.MNT_DETACH) })
	s, err := store.Open(t.Context(), folder, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	done := 0
	for ; done < 100000; done++ {
		if err = s.Record(t.Context(), eventOf(done)); err != nil {
			break
		}
	}
	if !errors.Is(err, store.ErrUnwritable) {
		t.Fatalf("after %d records: %v, want ErrUnwritable", done, err)
	}
	wantRefused(t, s)
	if err := s.AddRules(t.Context(), numbered(0)); err != nil && !errors.Is(err, store.ErrUnwritable) {
		t.Errorf("a rule that may still have room: %v, want ErrUnwritable", err)
	}
	if v, err := s.Verify(t.Context()); err != nil || !v.OK() || v.Records < int64(done) {
		t.Errorf("%d of %d records are there, %v %v", v.Records, done, v.Flaws, err)
	}
	if err := room(folder); err != nil {
		t.Fatal(err)
	}
	if err := s.Record(t.Context(), eventOf(done)); err != nil {
		t.Errorf("when there is room again: %v", err)
	}
}

func smallDisk(folder string) error {
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=600k"); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "ballast"), make([]byte, 100<<10), 0o600)
}

func freeDisk(folder string) error { return os.Remove(filepath.Join(folder, "ballast")) }

func limitFiles(string) error {
	signal.Ignore(syscall.SIGXFSZ)
	return setLimit(600 << 10)
}

func unlimitFiles(string) error { return setLimit(^uint64(0)) }

func setLimit(bytes uint64) error {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
		return err
	}
	l.Cur = min(bytes, l.Max)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l)
}
