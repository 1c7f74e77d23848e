package system

import (
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/tool/shell/analysis"
)

// Below /proc are links that lead elsewhere for every process that follows them, and
// to other places than their text says. What is below self is the command's and not
// ours, so it is never looked up through our own.

const procSelf = "/proc/self"

func inProc(folder string) bool {
	return runtime.GOOS == "linux" && (folder == "/proc" || strings.HasPrefix(folder, "/proc/"))
}

// proc says what a name in a folder of /proc is for the command.
func (w *World) proc(folder, name string, links *int) place {
	path := join(folder, name)
	switch {
	case folder == "/proc" && (name == "self" || name == "thread-self"):
		return place{procSelf, analysis.Folder}
	case folder == procSelf && name == "cwd":
		return w.follow(path, w.dir, links)
	case folder == procSelf && name == "root":
		return place{"/", analysis.Folder}
	case folder == procSelf || strings.HasPrefix(folder, procSelf+"/"):
		return own(path)
	case isProcess(folder, name):
		return w.process(path, links)
	}
	return w.stat(path, links)
}

// own says what a file of the command's own folder is. Its descriptors, threads and
// memory are not ours to look at: what is a link or missing here is anything there.
func own(path string) place {
	kind, link := lstat(path)
	if link || kind == analysis.Nothing {
		kind = analysis.Device
	}
	return place{path, kind}
}

// isProcess reports whether the name is, or is inside, the folder of a process with
// a number.
func isProcess(folder, name string) bool {
	if folder != "/proc" {
		name = strings.TrimPrefix(folder, "/proc/")
	}
	return name[0] >= '0' && name[0] <= '9'
}

// process says what a file of a numbered process is. A number that nobody has now may
// be the command's own when it runs.
func (w *World) process(path string, links *int) place {
	kind, link := lstat(path)
	if !link {
		if kind == analysis.Nothing {
			kind = analysis.Device
		}
		return place{path, kind}
	}
	target, err := os.Readlink(path)
	if err != nil || !sameView(path) || !sameFile(path, target) {
		return place{path, analysis.Device}
	}
	return w.follow(path, target, links)
}

// sameView reports whether the process that a path below /proc belongs to sees the
// files that we see: the text of its links is a path of its own mounts.
func sameView(path string) bool {
	number, _, _ := strings.Cut(strings.TrimPrefix(path, "/proc/"), "/")
	theirs, err := os.Readlink("/proc/" + number + "/ns/mnt")
	if err != nil {
		return false
	}
	ours, err := os.Readlink("/proc/self/ns/mnt")
	return err == nil && ours == theirs
}

// sameFile reports whether a link of /proc leads to what lies at its text: not so for
// deleted files, pipes and sockets.
func sameFile(link, target string) bool {
	var there, here unix.Stat_t
	return strings.HasPrefix(target, "/") &&
		unix.Stat(link, &there) == nil && unix.Stat(target, &here) == nil &&
		there.Dev == here.Dev && there.Ino == here.Ino
}
