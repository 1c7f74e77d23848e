package system

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"slices"
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

const (
	maxAlternates     = 64 << 10 // bytes of a file that lists them
	maxAlternateDepth = 6        // one more than git follows
)

// GitReaches returns the folders besides the repository's own in which git looks: where a .git
// file, commondir, alternates or core.worktree lead. ok is false if one cannot be read.
func (w *World) GitReaches(folder string) (folders []string, ok bool) {
	real, kind := w.Look(folder)
	if kind != analysis.Folder {
		return nil, false
	}
	found, ok := w.gitFolders(real)
	if !ok {
		return nil, false
	}
	for _, git := range found {
		if !w.reaches(git, w.treeOf(real, git), &folders) {
			return nil, false
		}
	}
	return folders, true
}

// treeOf returns the folder whose .git a repository is; empty for a bare one.
func (w *World) treeOf(folder, git string) string {
	for {
		if named, ok := w.dotGit(folder); ok && named == git {
			return folder
		}
		if folder == "/" {
			return ""
		}
		folder = filepath.Dir(folder)
	}
}

// reaches collects where one repository leads.
func (w *World) reaches(git, tree string, to *[]string) bool {
	add := func(folder string) {
		if !slices.Contains(*to, folder) {
			*to = append(*to, folder)
		}
	}
	if tree != "" && git != join(tree, ".git") {
		add(git)
	}
	common, ok := w.commonFolder(git)
	if !ok {
		return false
	}
	if common != git {
		add(common)
	}
	if !w.alternates(join(common, "objects"), 0, add) {
		return false
	}
	for _, file := range []string{join(common, "config"), join(git, "config.worktree")} {
		settings := readGitFile(file)
		if !settings.ok {
			return false
		}
		for _, s := range settings.settings {
			if s.Key != "core.worktree" {
				continue
			}
			path := s.Value
			if !filepath.IsAbs(path) {
				path = join(git, path)
			}
			if real, _ := w.Look(path); real != tree {
				add(real)
			}
		}
	}
	return true
}

// alternates collects the folders of objects that another one borrows from.
func (w *World) alternates(objects string, depth int, add func(string)) bool {
	file, kind := w.Look(join(objects, "info/alternates"))
	switch {
	case kind == analysis.Nothing:
		return true
	case kind != analysis.File || depth >= maxAlternateDepth:
		return false
	}
	text, _, ok := readRegular(file, maxAlternates)
	if !ok {
		return false
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '"' { // quoted as in C
			return false
		}
		if !filepath.IsAbs(line) {
			line = join(objects, line)
		}
		real, _ := w.Look(line)
		add(real)
		if !w.alternates(real, depth+1, add) {
			return false
		}
	}
	return true
}
