package analysis

// A World is what the analysis may ask about the machine. Paths are absolute and
// clean. Its answers hold for one analysis; it has no side effects.
type World interface {
	// Look says what lies at the path after links are followed, and where that
	// is: the real path, also of what does not exist yet (its existing parents
	// are resolved).
	Look(path string) (real string, kind FileKind)
	// List returns the names in a folder, at most max, sorted; more says that
	// there are others.
	List(folder string, max int) (entries []Entry, more bool)
	// GitConfig returns the settings of the repository that holds the folder,
	// with included files, system and user settings, in git's own order and with
	// section and key in lower case. ok is false if it cannot be read.
	GitConfig(folder string) (settings []Setting, ok bool)
	// GitHooks returns where the hooks of the repository are that holds the folder,
	// unless a setting says otherwise: also for a linked work tree or a submodule. ok
	// is false if that cannot be read; without a repository it is empty.
	GitHooks(folder string) (hooks string, ok bool)
	// GitNested reports whether the repository that holds the folder may have others
	// inside, submodules, with settings of their own.
	GitNested(folder string) bool
	// GitReaches returns the folders besides the repository's own in which git looks for
	// it, its objects and its files: where a .git file, commondir, alternates or
	// core.worktree lead. ok is false if one cannot be read.
	GitReaches(folder string) (folders []string, ok bool)
	// Home returns the person's home folder.
	Home() string
	// Program returns where a name is found on the PATH of the command; empty
	// if it is not there.
	Program(name string) string
	// Variable returns the value that a variable of the environment has for the
	// command, and whether it has one at all.
	Variable(name string) (value string, set bool)
}

// A Tracker is a World that can say which files git tracks.
type Tracker interface {
	// GitTracked returns the files that the index of the repository around a folder names, as far as they are wanted.
	// ok is false if the index cannot be read; without a repository there are none.
	GitTracked(folder string, wanted func(path string) bool) (files []Tracked, ok bool)
}

// A Tracked file is one that git tracks.
type Tracked struct {
	Path    string // absolute
	Changed bool   // it may be another by now
}

// A FileKind is what lies at a path.
type FileKind int

// The kinds of files.
const (
	Nothing FileKind = iota
	File
	Folder // one that the command may enter
	Device // a device, pipe or socket
)

// An Entry is a name in a folder. A link is not followed.
type Entry struct {
	Name string
	Kind FileKind
	Link bool
}

// A Setting is a line of git's configuration.
type Setting struct {
	Key, Value string
	// Repository says that it comes from the repository's own files, and not
	// from the person's or the system's.
	Repository bool
}
