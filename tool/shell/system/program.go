package system

import (
	"strings"

	"golang.org/x/sys/unix"
)

// Program returns where bash finds a name on the PATH of the command: the first
// executable file. It is empty if there is none, and for what is no plain name.
func (w *World) Program(name string) string {
	if found, ok := w.programs[name]; ok {
		return found
	}
	return remember(&w.programs, name, w.find(name))
}

func (w *World) find(name string) string {
	folders, set := w.Variable("PATH")
	if !set || name == "" || strings.Contains(name, "/") {
		return ""
	}
	for folder := range strings.SplitSeq(folders, ":") {
		if path := join(w.absolute(folder), name); executable(path) {
			return path
		}
	}
	return ""
}

// absolute says what a folder of PATH is: a relative one, or none at all, is meant
// from the working folder.
func (w *World) absolute(folder string) string {
	switch {
	case folder == "":
		return w.dir
	case folder[0] != '/':
		return join(w.dir, folder)
	}
	return folder
}

func executable(path string) bool {
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil &&
		uint32(st.Mode)&unix.S_IFMT == unix.S_IFREG &&
		unix.Access(path, unix.X_OK) == nil
}
