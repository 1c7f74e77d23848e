package system

import (
	"bytes"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/tool/shell/analysis"
)

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
