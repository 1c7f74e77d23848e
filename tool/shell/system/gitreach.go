package system

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/tool/shell/analysis"
)

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
