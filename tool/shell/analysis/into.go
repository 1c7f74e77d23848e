package analysis

import (
	"path"
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// into adds the parts for a file that goes to a path, or into a folder of that name.
func (w *walker) into(p Part, e programs.Effect, c *command) {
	if !e.What.Known || w.at.elsewhere || isDevice(e.What.Text) {
		w.touch(p, e.What, c.state, e.Tree)
		return
	}
	p.Operand = e.What
	w.changed = true
	dirs := c.state.folders.list
	if len(dirs) == 0 || w.facts.adrift {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		w.intoFrom(p, e, dir, c.after)
	}
}

// intoFrom adds them for one working folder. If commands before may have made a folder
// there, or removed it, the file may go to either place.
func (w *walker) intoFrom(p Part, e programs.Effect, dir string, after bool) {
	name, ok := w.absolute(e.What.Text, dir)
	if !ok {
		p.Why = "the file is not known"
		w.add(p)
		return
	}
	_, kind := w.world.Look(name)
	if kind != Folder || after {
		p.Path = name
		w.bring(p, e, dir)
	}
	if kind == Folder || after {
		w.intoFolder(p, e, name, dir)
	}
}

// intoFolder adds the part for a file below a folder.
func (w *walker) intoFolder(p Part, e programs.Effect, folder, dir string) {
	base := path.Base(e.From.Text)
	if !e.From.Known || base == "." || base == ".." || base == "/" {
		p.Path, p.Many, p.More = escapePattern(folder)+"/*", true, true
		p.Why = "which files it makes there is not known"
		w.add(p)
		return
	}
	p.Path = path.Join(folder, base)
	w.bring(p, e, dir)
}

// bring adds the part for what is copied, moved or linked to p.Path: a folder brings all
// that lies below it, and a link leads elsewhere.
func (w *walker) bring(p Part, e programs.Effect, dir string) {
	from, known := w.absolute(e.From.Text, dir)
	known = known && e.From.Known
	switch {
	case w.parts[p.Cause-1].Reading.Program == "ln":
		w.links = append(w.links, madeLink{path: p.Path, by: p.Cause})
	case known:
		w.bringLinks(p, e, from)
	}
	if !e.Tree {
		w.add(p)
		return
	}
	kind := Folder
	if known {
		_, kind = w.world.Look(from)
	}
	if kind == Folder {
		p.Many = true
		p.Matches, p.More = w.moved(from, p.Path)
	}
	if !known || kind != File && w.writesBelow(from) {
		p.Many, p.More = true, true
	}
	w.add(p)
}

// moved returns what lies below a folder, as it will lie below another.
func (w *walker) moved(from, to string) (found []string, more bool) {
	if from == "" {
		return nil, true
	}
	below, more := w.tree(from, true)
	found = make([]string, len(below))
	for i, name := range below {
		found[i] = to + strings.TrimPrefix(name, from)
	}
	return found, more
}

// writesBelow reports whether a part so far may write at or below a path.
func (w *walker) writesBelow(name string) bool { return w.wrote[""] || w.wrote[name] }

// noteWrite keeps in mind that a part writes a path, and so below every folder above it. An
// empty path may be any.
func (w *walker) noteWrite(name string) {
	if w.wrote == nil {
		w.wrote = make(map[string]bool)
	}
	for !w.wrote[name] {
		w.wrote[name] = true
		if name == "" {
			return
		}
		name = path.Dir(name)
	}
}
