package analysis

import (
	"path"
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// absolute returns where a path leads from a folder: clean, with `..` followed as the
// system does it, through links. It reports false if that cannot be told.
func (w *walker) absolute(name, dir string) (string, bool) {
	if name == "" || len(name) > maxPath {
		return "", false
	}
	if !strings.HasPrefix(name, "/") {
		if dir == "" {
			return "", false
		}
		name = dir + "/" + name
	}
	at := path.Clean(name)
	if strings.Contains(name, "..") {
		var ok bool
		if at, ok = w.climb(name); !ok {
			return "", false
		}
	}
	if strings.HasPrefix(at, "/proc/") || strings.HasPrefix(at, "/dev/fd") {
		return w.process(at, dir)
	}
	return at, true
}

// climb follows a path with `..` in it: each is the folder above what is there, after links.
// What is above a folder that is not there cannot be told: somebody may make it on the way.
func (w *walker) climb(name string) (string, bool) {
	at := "/"
	for _, part := range strings.Split(name, "/") {
		switch part {
		case "", ".":
		case "..":
			real, kind := w.world.Look(at)
			if kind == Nothing {
				return "", false
			}
			at = path.Dir(real)
		default:
			at = path.Join(at, part)
		}
	}
	return at, true
}

// process resolves the system's names for what a process has: its folder and its root. What
// it has open, and other processes, cannot be told.
func (w *walker) process(name, dir string) (string, bool) {
	rest, ok := strings.CutPrefix(name, "/proc/self/")
	if !ok {
		rest, ok = strings.CutPrefix(name, "/proc/thread-self/")
	}
	if !ok {
		first, _, _ := strings.Cut(strings.TrimPrefix(name, "/proc/"), "/")
		return name, strings.HasPrefix(name, "/proc/") && !digits(first)
	}
	if below, ok := strings.CutPrefix(rest, "root"); ok && (below == "" || below[0] == '/') {
		return w.absolute("/"+below, dir)
	}
	if below, ok := strings.CutPrefix(rest, "cwd"); ok && (below == "" || below[0] == '/') && dir != "" {
		return w.absolute(dir+below, dir)
	}
	return name, !strings.HasPrefix(rest, "fd") && !strings.HasPrefix(rest, "task") && !strings.HasPrefix(rest, "map_files") && !strings.HasPrefix(rest, "cwd")
}

// isDevice reports whether a path names a device or descriptor that is no file.
func isDevice(name string) bool {
	switch name {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/zero", "/dev/tty", "/dev/full", "/dev/random", "/dev/urandom":
		return true
	}
	n, ok := strings.CutPrefix(name, "/dev/fd/")
	return ok && digits(n)
}

// reopens reports whether a write to the device may go to a file that was only opened to be
// read: the system opens what the descriptor stands for once more.
func (w *walker) reopens(device string) bool {
	switch device {
	case "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", substituted:
		return w.crossed
	}
	return device == "/dev/stdin" || strings.HasPrefix(device, "/dev/fd/")
}

// touch adds the parts for a file that is read, written or deleted: one for each folder
// that the command may run in.
func (w *walker) touch(p Part, target programs.Word, s *state, tree bool) {
	p.Operand = target
	if target.Known && isDevice(target.Text) && !w.alters(p) {
		if p.Access != programs.Read && w.reopens(target.Text) {
			p.Why = "it writes to the file that " + target.Text + " is open on"
			w.changed = true
			w.add(p)
		}
		return
	}
	if p.Redirect && target.Known && w.connects(p, target.Text) {
		return
	}
	if w.at.elsewhere {
		return
	}
	if p.Access != programs.Read {
		w.changed = true
	}
	if target.Below != "" && !target.Known && p.Access != programs.Write && len(s.folders.list) > 0 && !w.facts.adrift {
		for _, dir := range s.folders.list {
			w.touchBelow(p, target, dir)
		}
		return
	}
	if !target.Known && !target.Glob {
		if p.Why == "" {
			p.Why = "the file is not known"
		}
		w.add(p)
		return
	}
	dirs := s.folders.list
	if len(dirs) == 0 || w.facts.adrift || path.IsAbs(target.Text) && !strings.Contains(target.Text, "proc/") {
		dirs = []string{""} // the folder does not matter, or is not known
	}
	for _, dir := range dirs {
		w.touchIn(p, target, dir, tree)
	}
}

// altering are programs that do to a path more than open it: on a device that
// changes the device itself.
var altering = map[string]bool{
	"mv": true, "ln": true, "cp": true, "install": true, "rsync": true, "chmod": true, "chown": true, "chgrp": true,
	"setfacl": true, "chattr": true, "touch": true, "truncate": true, "shred": true, "mknod": true, "mkfifo": true, "mount": true,
}

// alters reports whether a part does more to a device than read and write it.
func (w *walker) alters(p Part) bool {
	if p.Redirect || p.Access == programs.Read {
		return false
	}
	return p.Access == programs.Delete || p.Cause > 0 && altering[w.parts[p.Cause-1].Reading.Program]
}

// touchIn adds the part for a file named from one folder.
func (w *walker) touchIn(p Part, target programs.Word, dir string, tree bool) {
	if target.Glob {
		w.touchPattern(p, target.Text, dir, tree)
		return
	}
	name, ok := w.absolute(target.Text, dir)
	if !ok {
		p.Why = "the file is not known"
		w.add(p)
		return
	}
	p.Path, p.tree = name, tree
	if tree {
		if _, kind := w.world.Look(name); kind == Folder {
			p.Many = true
			p.Matches, p.More = w.tree(name, p.Access == programs.Read)
			w.leaveAlone(&p)
		}
	}
	w.add(p)
}

// connects adds the part for bash's /dev/tcp and /dev/udp.
func (w *walker) connects(p Part, name string) bool {
	rest, ok := strings.CutPrefix(name, "/dev/tcp/")
	if !ok {
		rest, ok = strings.CutPrefix(name, "/dev/udp/")
	}
	if !ok {
		return false
	}
	host, port, _ := strings.Cut(rest, "/")
	w.add(Part{Kind: Connects, Cause: p.Cause, Line: p.Line, Source: p.Source, Host: host, Port: port, Redirect: true})
	return true
}
