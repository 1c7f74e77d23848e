package system

import (
	"cmp"
	"io"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/tool/shell/analysis"
)

type listing struct {
	folder string
	max    int
}

type listed struct {
	entries []analysis.Entry
	more    bool
}

// List returns the names in a folder, at most max, sorted; more says that there are
// others, or that not all could be read. A link's kind is Nothing until it is looked at.
// What is no folder has no names.
func (w *World) List(folder string, max int) (entries []analysis.Entry, more bool) {
	key := listing{folder, max}
	l, ok := w.lists[key]
	if !ok {
		l = remember(&w.lists, key, w.list(folder, max))
	}
	return l.entries, l.more
}

func (w *World) list(folder string, max int) listed {
	if max < 0 {
		max = 0 // ReadDir would read all
	}
	real, kind := w.Look(folder)
	if kind != analysis.Folder {
		return listed{more: kind == analysis.Device}
	}
	f, err := os.OpenFile(real, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return listed{more: true}
	}
	defer f.Close()
	// In the order of the disk; one too many tells that there are more.
	found, err := f.ReadDir(max + 1)
	if err != nil && err != io.EOF {
		return listed{more: true}
	}
	return sorted(found, max)
}

func sorted(found []fs.DirEntry, max int) listed {
	l := listed{more: len(found) > max}
	if l.more {
		found = found[:max]
	}
	l.entries = make([]analysis.Entry, len(found))
	for i, e := range found {
		l.entries[i] = entry(e)
	}
	slices.SortFunc(l.entries, func(a, b analysis.Entry) int { return cmp.Compare(a.Name, b.Name) })
	return l
}

func entry(e fs.DirEntry) analysis.Entry {
	switch e.Type() {
	case 0:
		return analysis.Entry{Name: e.Name(), Kind: analysis.File}
	case fs.ModeDir:
		return analysis.Entry{Name: e.Name(), Kind: analysis.Folder}
	case fs.ModeSymlink:
		return analysis.Entry{Name: e.Name(), Link: true}
	}
	return analysis.Entry{Name: e.Name(), Kind: analysis.Device}
}
