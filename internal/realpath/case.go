package realpath

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// FoldsCase says that file systems of this system usually take README and readme for one name. On
// Linux a folder can be told to, which is rare and not looked for.
const FoldsCase = runtime.GOOS == "darwin"

// Case returns a path that exists as its folders spell it, where names that differ in case only are
// the same: two spellings of one folder are then one text.
func Case(path string) string {
	if !FoldsCase {
		return path
	}
	return asSpelled(path)
}

func asSpelled(path string) string {
	parent, name := filepath.Split(path)
	if parent = filepath.Clean(parent); name == "" || parent == path {
		return path
	}
	parent = asSpelled(parent)
	entries, _ := os.ReadDir(parent) // what cannot be listed stays as it is written
	named := func(e os.DirEntry) bool { return e.Name() == name }
	folded := func(e os.DirEntry) bool { return strings.EqualFold(e.Name(), name) }
	if !slices.ContainsFunc(entries, named) {
		if i := slices.IndexFunc(entries, folded); i >= 0 {
			name = entries[i].Name()
		}
	}
	return filepath.Join(parent, name)
}
