package system

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/assent-dev/assent/tool/shell/analysis"
)

// maxGitIndex is how much of an index is looked at; a larger one may hold anything.
const maxGitIndex = 64 << 20

// GitHooks returns where git looks for the hooks of the repository that holds the folder.
func (w *World) GitHooks(folder string) (hooks string, ok bool) {
	git, ok := w.gitFolder(folder)
	if !ok || git == "" {
		return "", ok
	}
	common, ok := w.commonFolder(git)
	if !ok {
		return "", false
	}
	return join(common, "hooks"), true
}

// GitNested reports whether the index of the repository that holds the folder names
// others, or cannot be read.
func (w *World) GitNested(folder string) bool {
	git, ok := w.gitFolder(folder)
	if !ok || git == "" {
		return !ok
	}
	if _, kind := w.Look(join(git, "index")); kind == analysis.Nothing {
		return false
	}
	index, _, ok := readRegular(join(git, "index"), maxGitIndex)
	if !ok || holdsLink(index) {
		return true
	}
	entries, more := w.List(git, 1000)
	for _, e := range entries {
		more = more || strings.HasPrefix(e.Name, "sharedindex.") // the rest of a split index
	}
	return more
}

// gitFolder returns the folder of the repository that git would choose; empty without one.
func (w *World) gitFolder(folder string) (git string, ok bool) {
	real, kind := w.Look(folder)
	if kind != analysis.Folder {
		return "", false
	}
	found, ok := w.gitFolders(real)
	for _, git := range found {
		if w.isGitFolder(git) {
			return git, ok
		}
	}
	return "", ok
}

// linkMode is how an index writes the mode of an entry that is a repository: 0160000.
var linkMode = []byte{0, 0, 0xe0, 0}

// holdsLink reports whether an index may have an entry that is a repository. It does not
// take the index apart: the mode of an entry stands at certain places, and other numbers
// there are hardly ever the same.
func holdsLink(index []byte) bool {
	if len(index) < 12 || string(index[:4]) != "DIRC" {
		return true
	}
	if binary.BigEndian.Uint32(index[4:]) > 3 { // entries of any length
		return bytes.Contains(index, linkMode)
	}
	for at := 36; at+4 <= len(index); at += 8 {
		if bytes.Equal(index[at:at+4], linkMode) {
			return true
		}
	}
	return false
}
