package system

import (
	"cmp"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/assent-dev/assent/tool/shell/analysis"
)

const (
	maxLinks = 40   // as many as the kernel follows
	maxPath  = 4096 // longer than any path that the kernel takes
)

// A place is what a path turned out to be.
type place struct {
	real string
	kind analysis.FileKind
}

// Look says what lies at the path after links are followed, and where that is. A
// path that is not clean is followed as the kernel does it: `..` behind a link leads
// to the parent of the link's target.
//
// What cannot be told is a [analysis.Device]: a folder that may not be entered, a
// link that leads in a circle, an open descriptor of the command.
func (w *World) Look(path string) (real string, kind analysis.FileKind) {
	if len(path) > maxPath || !strings.HasPrefix(path, "/") {
		return path, analysis.Device
	}
	links := 0
	p := w.look(path, &links)
	return p.real, p.kind
}

// look resolves the folder first and then the last name in it, so that the folder is
// remembered for its other names.
func (w *World) look(path string, links *int) place {
	if path == "/" || path == "" {
		return place{"/", analysis.Folder}
	}
	if p, ok := w.places[path]; ok {
		return p
	}
	slash := strings.LastIndexByte(path, '/')
	p := w.enter(w.folder(path[:slash], links), path[slash+1:], links)
	return remember(&w.places, path, p)
}

// folder resolves a folder at once if it can.
func (w *World) folder(path string, links *int) place {
	if _, known := w.places[path]; !known && path != "" && straight(path) {
		return remember(&w.places, path, place{path, analysis.Folder})
	}
	return w.look(path, links)
}

// enter says what a name in a place is.
func (w *World) enter(in place, name string, links *int) place {
	switch {
	case name == "" || name == ".":
		return in
	case in.kind == analysis.Device:
		return place{join(in.real, name), analysis.Device}
	case name == "..":
		return place{filepath.Dir(in.real), analysis.Folder}
	case in.kind != analysis.Folder:
		return place{join(in.real, name), analysis.Nothing}
	case inProc(in.real):
		return w.proc(in.real, name, links)
	}
	return w.stat(join(in.real, name), links)
}

// stat says what a path is whose folder is resolved.
func (w *World) stat(path string, links *int) place {
	kind, link := lstat(path)
	if !link {
		return place{path, kind}
	}
	target, err := os.Readlink(path)
	if err != nil {
		return place{path, analysis.Device}
	}
	return w.follow(path, target, links)
}

// follow says where a link leads.
func (w *World) follow(link, target string, links *int) place {
	*links++
	if *links > maxLinks {
		return place{link, analysis.Device}
	}
	if !strings.HasPrefix(target, "/") {
		target = join(filepath.Dir(link), target)
	}
	return w.look(target, links)
}

// lstat says what a path is itself; a link's kind is Nothing.
func lstat(path string) (kind analysis.FileKind, link bool) {
	var st unix.Stat_t
	switch err := unix.Lstat(path, &st); err {
	case nil:
	case unix.ENOENT, unix.ENOTDIR, unix.ENAMETOOLONG:
		return analysis.Nothing, false
	default:
		return analysis.Device, false
	}
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFLNK:
		return analysis.Nothing, true
	case unix.S_IFDIR:
		if !enterable(path, &st) {
			return analysis.Device, false
		}
		return analysis.Folder, false
	case unix.S_IFREG:
		return analysis.File, false
	}
	return analysis.Device, false
}

// enterable reports whether the folder may be entered. The owner's own bit tells it
// without asking the system.
func enterable(path string, st *unix.Stat_t) bool {
	return st.Uid == uint32(unix.Geteuid()) && st.Mode&unix.S_IXUSR != 0 ||
		unix.Access(path, unix.X_OK) == nil
}

func join(folder, name string) string {
	if folder == "/" {
		return "/" + name
	}
	return folder + "/" + name
}

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

var _ analysis.Reader = (*World)(nil)

// maxText is how much of a file may be asked for.
const maxText = 64 << 10

// Text returns what a file says; not ok if it is large, no regular file or not readable.
func (w *World) Text(path string) (text string, ok bool) {
	content, _, ok := readRegular(path, maxText)
	return string(content), ok
}
