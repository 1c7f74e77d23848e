package system

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// straight reports whether the path is a folder that may be entered, with no link on
// the way to it: one question to the kernel instead of one for each name. False may
// also mean that the kernel does not know.
func straight(folder string) bool {
	if filepath.Clean(folder) != folder {
		return false
	}
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC | unix.O_DIRECTORY,
		Resolve: unix.RESOLVE_NO_SYMLINKS,
	}
	// The dot at the end is only found in a folder that may be entered.
	fd, err := unix.Openat2(unix.AT_FDCWD, folder+"/.", &how)
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}
