package system

import (
	"bytes"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/internal/gitconfig"
	"github.com/assent-dev/assent/tool/shell/analysis"
)

const (
	maxIncludeDepth = 10 // as deep as git goes
	maxGitSources   = 100
)

// configured is the answer about one folder.
type configured struct {
	settings []analysis.Setting
	ok       bool
}

// GitConfig returns the settings that a git started in the folder would have, in git's
// own order: system, user, repository, work tree, each with the files that it includes.
// A conditional include counts whatever its condition. ok is false if a file is not
// readable, too large or malformed, and if the environment names other files than
// the usual.
//
// Files are remembered for the life of the process until they change.
func (w *World) GitConfig(folder string) (settings []analysis.Setting, ok bool) {
	c, known := w.configs[folder]
	if !known {
		c = remember(&w.configs, folder, w.configure(folder))
	}
	return c.settings, c.ok
}

func (w *World) configure(folder string) configured {
	real, kind := w.Look(folder)
	if kind != analysis.Folder || w.gitRedirected() {
		return configured{}
	}
	repositories, ok := w.gitFolders(real)
	if !ok {
		return configured{}
	}
	r := gitReader{world: w}
	ok = r.files(w.systemGitFiles()) && r.files(w.userGitFiles())
	r.repository = true
	for _, git := range repositories {
		common, found := w.commonFolder(git)
		ok = ok && found && r.files([]string{join(common, "config"), join(git, "config.worktree")})
	}
	if !ok {
		return configured{}
	}
	return configured{r.settings, true}
}

// gitRedirected reports whether a variable makes git read other settings than those
// of the usual files.
func (w *World) gitRedirected() bool {
	for _, entry := range w.env {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case strings.HasPrefix(name, "GIT_CONFIG"), name == "GIT_DIR", name == "GIT_COMMON_DIR":
			return true
		}
	}
	return false
}

// systemGitFiles are where builds of git look for the settings of the machine; one
// build has one of them.
func (w *World) systemGitFiles() []string {
	files := []string{"/etc/gitconfig"}
	if runtime.GOOS == "darwin" {
		files = append(files,
			"/Library/Developer/CommandLineTools/usr/share/git-core/gitconfig",
			"/Applications/Xcode.app/Contents/Developer/usr/share/git-core/gitconfig")
	}
	if git := w.Program("git"); git != "" {
		prefix := filepath.Dir(filepath.Dir(git))
		if beside := filepath.Join(prefix, "etc/gitconfig"); beside != files[0] {
			files = append(files, beside)
		}
	}
	return files
}

func (w *World) userGitFiles() []string {
	home := w.Home()
	folder, _ := w.Variable("XDG_CONFIG_HOME")
	if folder == "" {
		folder = join(home, ".config")
	}
	return []string{join(folder, "git/config"), join(home, ".gitconfig")}
}

// A gitReader collects the settings of several files.
type gitReader struct {
	world      *World
	repository bool // whose files are read now
	settings   []analysis.Setting
	sources    int
}

func (r *gitReader) files(paths []string) bool {
	for _, path := range paths {
		if !r.file(path, 0) {
			return false
		}
	}
	return true
}

func (r *gitReader) file(path string, depth int) bool {
	r.sources++
	file := readGitFile(path)
	if !file.ok || depth > maxIncludeDepth || r.sources > maxGitSources {
		return false
	}
	for _, setting := range file.settings {
		setting.Repository = r.repository
		r.settings = append(r.settings, setting)
		if (gitconfig.Setting{Key: setting.Key}).IsInclude() && !r.include(setting.Value, path, depth) {
			return false
		}
	}
	return true
}

// include reads a file that another one names.
func (r *gitReader) include(name, from string, depth int) bool {
	path, ok := r.world.gitPath(name)
	if !ok {
		return false
	}
	if !filepath.IsAbs(path) {
		path = join(filepath.Dir(from), path)
	}
	return r.file(path, depth+1)
}

// gitPath replaces a home folder at the beginning of a name. Names that only this or
// that build of git understands are not.
func (w *World) gitPath(name string) (path string, ok bool) {
	switch {
	case name == "", strings.HasPrefix(name, "%("), strings.HasPrefix(name, ":("):
		return "", false
	case name[0] != '~':
		return name, true
	}
	who, rest, _ := strings.Cut(name[1:], "/")
	if who == "" {
		return join(w.Home(), rest), true
	}
	u, err := user.Lookup(who)
	if err != nil {
		return "", false
	}
	return join(u.HomeDir, rest), true
}

// maxGitPointer is how much of a file is read that names another folder.
const maxGitPointer = 64 << 10

// gitFolders returns the folders in which git may look for the settings of the
// repository that holds the folder, a real path, outermost first. There is more than
// one if some do not look as git wants them: git would pass those by. ok is false if
// one cannot be read.
func (w *World) gitFolders(folder string) (found []string, ok bool) {
	for {
		git, ok := w.dotGit(folder)
		if !ok {
			return nil, false
		}
		if git != "" {
			found = append([]string{git}, found...)
		}
		if git != "" && w.isGitFolder(git) {
			return found, true
		}
		if w.isGitFolder(folder) { // a bare repository, or the inside of one
			return append([]string{folder}, found...), true
		}
		if folder == "/" {
			return found, true
		}
		folder = filepath.Dir(folder)
	}
}

// dotGit returns what .git in a folder is or names; empty if there is none.
func (w *World) dotGit(folder string) (git string, ok bool) {
	real, kind := w.Look(join(folder, ".git"))
	switch kind {
	case analysis.Nothing:
		return "", true
	case analysis.Folder:
		return real, true
	case analysis.File:
		return w.gitPointer(real, "gitdir: ", folder)
	}
	return "", false
}

// gitPointer reads a file that names a folder behind a prefix.
func (w *World) gitPointer(file, prefix, from string) (folder string, ok bool) {
	text, _, ok := readRegular(file, maxGitPointer)
	if !ok {
		return "", false
	}
	name, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), prefix)
	if !ok || name == "" {
		return "", false
	}
	if !filepath.IsAbs(name) {
		name = join(from, name)
	}
	real, _ := w.Look(name)
	return real, true
}

// commonFolder returns where the settings are that all work trees share.
func (w *World) commonFolder(git string) (folder string, ok bool) {
	file, kind := w.Look(join(git, "commondir"))
	switch kind {
	case analysis.Nothing:
		return git, true
	case analysis.File:
		return w.gitPointer(file, "", git)
	}
	return "", false
}

// isGitFolder reports whether git would take the folder for a repository.
func (w *World) isGitFolder(folder string) bool {
	if !isHead(join(folder, "HEAD")) {
		return false
	}
	common, ok := w.commonFolder(folder)
	return ok && unix.Access(join(common, "objects"), unix.X_OK) == nil &&
		unix.Access(join(common, "refs"), unix.X_OK) == nil
}

func isHead(path string) bool {
	buffer := make([]byte, 256)
	switch n, err := unix.Readlink(path, buffer); err {
	case nil:
		return strings.HasPrefix(string(buffer[:n]), "refs/")
	case unix.EINVAL: // no link
	default:
		return false
	}
	text, ok := readBegin(path, headRead)
	return ok && isHeadText(text)
}

// headRead is how much of HEAD git looks at, however long it is.
const headRead = 255

// isHeadText reports whether a text names a branch, or begins with a commit.
func isHeadText(text []byte) bool {
	if name, ok := bytes.CutPrefix(text, []byte("ref:")); ok {
		return bytes.HasPrefix(bytes.TrimLeft(name, " \t\r\n"), []byte("refs/"))
	}
	const commit = 40
	return len(text) >= commit && len(bytes.Trim(text[:commit], "0123456789abcdefABCDEF")) == 0
}
