package analysis

import (
	"path"
	"slices"
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
	return name, !strings.HasPrefix(rest, "fd") && !strings.HasPrefix(rest, "task") &&
		!strings.HasPrefix(rest, "map_files") && !strings.HasPrefix(rest, "cwd")
}

// isDevice reports whether a path names a device or descriptor that is no file.
func isDevice(name string) bool {
	switch name {
	case "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/zero", "/dev/tty", "/dev/full", "/dev/random",
		"/dev/urandom":
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
	"setfacl": true, "chattr": true, "touch": true, "truncate": true, "shred": true, "mknod": true, "mkfifo": true,
	"mount": true,
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

// A madeLink is a symbolic link that the text itself makes: what lies below it is not
// where the path says.
type madeLink struct {
	path string
	by   int // the part that makes it
	// itself says that the file behind the link was not judged either: it is a copy of
	// a link, and not one whose target the text names.
	itself bool
}

// bringLinks notes the links among what is copied or moved.
func (w *walker) bringLinks(p Part, e programs.Effect, from string) {
	flags := w.parts[p.Cause-1].Reading.Flags
	if !e.Tree && !slices.Contains(flags, "-P") && !slices.Contains(flags, "-d") {
		return // the file behind the link is copied
	}
	if w.isLink(from) {
		w.links = append(w.links, madeLink{p.Path, p.Cause, true})
		return
	}
	if _, kind := w.world.Look(from); kind != Folder {
		return
	}
	below, _ := w.tree(from, false)
	for _, name := range below {
		if w.isLink(name) {
			w.links = append(w.links, madeLink{p.Path + strings.TrimPrefix(name, from), p.Cause, true})
		}
	}
}

// isLink reports whether a symbolic link lies at the path.
func (w *walker) isLink(name string) bool {
	real, _ := w.world.Look(name)
	folder, _ := w.world.Look(path.Dir(name))
	return real != path.Join(folder, path.Base(name))
}

// maxLinks is how many links of the text itself are followed.
const maxLinks = 64

// settle looks at the parts once more when all are known, since loops, traps and jobs
// have no order: files behind links that the text makes are not known, and neither is
// code that it writes.
func (w *walker) settle() {
	if len(w.links) > maxLinks {
		w.unknown(0, nil, "makes too many links to follow")
		w.links = w.links[:maxLinks]
	}
	for _, link := range w.links {
		for i := range w.parts {
			if p := &w.parts[i]; p.Cause != link.by && i+1 != link.by {
				p.forget(link)
			}
		}
	}
	w.settleScripts()
}

// forget takes a path for unknown that leads through the link.
func (p *Part) forget(link madeLink) {
	switch {
	case p.Kind == Touches && link.leads(p.Path, p.tree):
		p.Path, p.Many, p.Matches, p.More = "", false, nil, false
		p.Why = "it may be reached through a link that the command makes"
	case p.Kind == Runs && link.leads(p.Dir, true):
		p.Dir = ""
	}
}

// leads reports whether a path, or a pattern of paths, goes through the link: below it, or
// with all that lies there.
func (l madeLink) leads(to string, tree bool) bool {
	for own := l.path; to != ""; {
		name, below, more := strings.Cut(own, "/")
		part, rest, further := strings.Cut(to, "/")
		if part != name && !mayMatch(part, name) {
			return false
		}
		switch {
		case !more && !further:
			return l.itself || tree
		case !more:
			return true
		case !further:
			return false // it ends above the link
		}
		own, to = below, rest
	}
	return false
}

// mayMatch reports whether a pattern fits a name. What is no pattern fits none but itself.
func mayMatch(pattern, name string) bool {
	if !strings.ContainsAny(pattern, `*?[\`) {
		return false
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}
