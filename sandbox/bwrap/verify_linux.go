package bwrap

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/sandbox/launch"
)

// A standing is what must be found at a layer's path inside, before the command runs.
// Bubblewrap mounts by name, and another command that runs in the same folder could have
// exchanged what has that name.
type standing struct {
	layer launch.Layer
	file  [2]uint64 // device and number of what is mounted there
}

// remember looks at what is about to be mounted.
func (l *setup) remember(layout launch.Layout) error {
	for _, layer := range layout.Layers() {
		f, err := openNoLinks(layer.Path, unix.O_PATH)
		if err != nil {
			return fmt.Errorf("preparing the sandbox: %w", err)
		}
		s := standing{layer: layer}
		s.file, err = identity(f)
		f.Close()
		if err != nil {
			return fmt.Errorf("preparing the sandbox: %w", err)
		}
		l.standing = append(l.standing, s)
	}
	return nil
}

// verify looks at the layers as the first process inside sees them.
func (l *setup) verify(pid int) error {
	root, err := os.OpenFile(fmt.Sprintf("/proc/%d/root", pid), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return ErrNotSetUp
	}
	defer root.Close()
	for _, s := range l.standing {
		if err := s.check(root); err != nil {
			return fmt.Errorf("the sandbox is not as planned: %s %w; "+
				"another program may be changing the folder, so try again", s.layer.Path, err)
		}
	}
	return nil
}

func (s standing) check(root *os.File) error {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(int(root.Fd()), strings.TrimPrefix(s.layer.Path, "/"), &how)
	if err != nil {
		return fmt.Errorf("cannot be looked at: %w", err)
	}
	f := os.NewFile(uintptr(fd), s.layer.Path)
	defer f.Close()
	var at unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_BASIC_STATS, &at); err != nil {
		return fmt.Errorf("cannot be looked at: %w", err)
	}
	var mount unix.Statfs_t
	if err := unix.Fstatfs(fd, &mount); err != nil {
		return fmt.Errorf("cannot be looked at: %w", err)
	}
	file, err := identity(f)
	switch {
	case err != nil:
		return err
	case at.Attributes_mask&unix.STATX_ATTR_MOUNT_ROOT != 0 && at.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0:
		return fmt.Errorf("is not mounted")
	case s.layer.Mode != sandbox.ModeHidden && file != s.file:
		return fmt.Errorf("is another file")
	case s.layer.Mode != sandbox.ModeReadWrite && mount.Flags&unix.ST_RDONLY == 0:
		return fmt.Errorf("is writable")
	}
	return nil
}

// identity tells an open file from every other.
func identity(f *os.File) ([2]uint64, error) {
	var at unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &at)
	return [2]uint64{uint64(at.Dev), at.Ino}, err
}
