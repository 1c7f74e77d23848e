package system

import (
	"os"
	"os/user"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/tool/shell/analysis"
)

// A World answers what the analysis asks about this machine, for a command that
// starts in one folder with one environment. It is not safe for concurrent use.
type World struct {
	dir string
	env []string

	places   map[string]place
	lists    map[listing]listed
	programs map[string]string
	configs  map[string]configured
}

var _ analysis.World = (*World)(nil)

// New returns the world of a command that starts in the folder, an absolute path,
// with exactly this environment.
func New(dir string, env []string) *World { return &World{dir: dir, env: env} }

// In returns the world as it is for a command after a change to the folder: there,
// /proc/self/cwd and $PWD say something else.
func (w *World) In(dir string) analysis.World { return New(dir, w.env) }

// Variable returns the value that the environment has for the command. The shell
// sets further variables by itself, of which only PWD is known here: that one is
// not set does not mean that it is empty.
func (w *World) Variable(name string) (value string, set bool) {
	if name == "PWD" {
		return w.dir, true
	}
	for _, entry := range w.env {
		if key, value, _ := strings.Cut(entry, "="); key == name {
			return value, true
		}
	}
	return "", false
}

// Home returns the folder that a tilde stands for: $HOME, and without one what the
// system says; empty if nothing does.
func (w *World) Home() string {
	if home, set := w.Variable("HOME"); set {
		return home
	}
	return ownHome()
}

var ownHome = sync.OnceValue(func() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.HomeDir
})

// remember puts a value into a map that is made when it is first needed.
func remember[K comparable, V any](m *map[K]V, key K, value V) V {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[key] = value
	return value
}

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
