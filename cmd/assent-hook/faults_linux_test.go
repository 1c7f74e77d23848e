package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/assent-dev/assent/internal/reexec"
)

// TestADiskThatTakesNothingBlocks has the state on a disk that is full, and then one that
// can only be read.
func TestADiskThatTakesNothingBlocks(t *testing.T) {
	if program := reexec.IsAlone(); program != "" {
		onASmallDisk(t, program)
		return
	}
	c := reexec.Alone(t.Name(), build(t, t.TempDir()))
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func onASmallDisk(t *testing.T, program string) {
	m := newMachine(t, program)
	disk := m.env["XDG_STATE_HOME"]
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=600k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	m.wantAllowed()
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 600<<10), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	m.wantBlocked("disk is full")
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	m.wantAllowed()
	if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	m.wantBlocked("read-only file system")
}
