package system

import (
	"crypto/sha1"
	"crypto/sha256"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/internal/gitconfig"
	"github.com/assent-dev/assent/tool/shell/analysis"
)

var _ analysis.Tracker = (*World)(nil)

// GitTracked implements [analysis.Tracker].
func (w *World) GitTracked(folder string, wanted func(path string) bool) (files []analysis.Tracked, ok bool) {
	git, ok := w.gitFolder(folder)
	if !ok || git == "" {
		return nil, ok
	}
	real, _ := w.Look(folder)
	tree := w.treeOf(real, git)
	if _, kind := w.Look(join(git, "index")); kind == analysis.Nothing || tree == "" {
		return nil, true // nothing is tracked, or it is a bare repository
	}
	size := sha1.Size
	settings, ok := w.GitConfig(folder)
	for _, s := range settings {
		if s.Key == "extensions.objectformat" && s.Value == "sha256" {
			size = sha256.Size
		}
	}
	seen := map[string]bool{}
	var written signature
	each := func(name string, e gitconfig.IndexEntry) {
		if path := join(tree, name); !seen[name] && wanted(path) {
			seen[name] = true
			files = append(files, analysis.Tracked{Path: path, Changed: changed(path, e, written)})
		}
	}
	for file := "index"; ok && file != ""; {
		var data []byte
		if data, written, ok = readRegular(join(git, file), maxGitIndex); !ok {
			return nil, false
		}
		shared, err := gitconfig.ReadIndex(data, size, each)
		if err != nil {
			return nil, false
		}
		if file = ""; shared != "" {
			file = "sharedindex." + shared
		}
	}
	return files, ok
}

// changed reports whether a file may be another than the index says. What changed when the index was written may have
// changed once more within the same tick of the clock.
func changed(path string, e gitconfig.IndexEntry, index signature) bool {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return true
	}
	sig := sign(&st)
	sec, nsec := sig.modified.Unix()
	then, exactly := index.modified.Unix()
	before := sec < then || sec == then && nsec < exactly
	return !before || uint32(sig.size) != e.Size || uint32(sig.inode) != e.Ino ||
		[2]uint32{uint32(sec), uint32(nsec)} != e.MTime
}
