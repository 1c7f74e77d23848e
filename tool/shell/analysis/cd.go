package analysis

import (
	"path"
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// cd follows the shell into a folder.
func cd(w *walker, c *command) outcome {
	w.harmless(c)
	flags, rest, ok := options(c.words, "")
	if !ok || len(c.words)-rest > 1 || !known(flags, "LPe") {
		return w.lost(c)
	}
	physical := false
	for _, f := range flags {
		physical = f.letter == 'P' || physical && f.letter != 'L'
	}
	target := w.value("HOME", c.state)
	if rest < len(c.words) {
		target = c.words[rest]
	}
	if target.Known && target.Text == "-" {
		return w.before(c)
	}
	return w.enter(c, target, physical)
}

// pushd goes to a folder, and popd back.
func pushd(w *walker, c *command) outcome {
	w.harmless(c)
	if len(c.words) != 2 || !c.words[1].Known || strings.HasPrefix(c.words[1].Text, "+") || c.words[1].MayBeFlag() {
		return w.lost(c)
	}
	from := c.state.folders
	o := w.enter(c, c.words[1], false)
	if o.ok.trail != nil {
		o.ok.trail = &trail{before: &from, stacked: &stack{from, from.trail.stacked}}
	}
	return o
}

func popd(w *walker, c *command) outcome {
	w.harmless(c)
	from := c.state.folders
	if len(c.words) > 1 || w.unsettled("DIRSTACK", c.state) {
		return w.lost(c)
	}
	top := from.trail.stacked
	if top == nil {
		return stays(from) // it fails
	}
	return w.back(c, top.folders, &trail{before: &from, stacked: top.under})
}

// dirs prints the way back, and with -c forgets it.
func dirs(w *walker, c *command) outcome {
	w.harmless(c)
	if len(c.words) > 1 {
		c.state.folders.trail = nil
	}
	return stays(c.state.folders)
}

// before is `cd -`.
func (w *walker) before(c *command) outcome {
	from := c.state.folders
	if w.unsettled("OLDPWD", c.state) {
		return w.lost(c)
	}
	if from.trail.before == nil {
		return stays(from) // it fails
	}
	return w.back(c, *from.trail.before, &trail{before: &from, stacked: from.trail.stacked})
}

// unsettled reports whether the way back is not known, or the text may have changed the
// variable that holds it.
func (w *walker) unsettled(name string, s *state) bool {
	_, assigned := w.lookup(name, s)
	return s.folders.trail == nil || assigned || w.facts.adrift
}

// back goes to a folder where the shell was before.
func (w *walker) back(c *command, to folders, way *trail) outcome {
	if !to.known() {
		return w.lost(c)
	}
	w.way.moves++
	w.parts[c.part-1].Path = to.only()
	return outcome{ok: folders{list: to.list, trail: way}, fail: c.state.folders, sure: !w.changed && !w.risky}
}

// lost is the outcome of going to a folder that is not known.
func (w *walker) lost(c *command) outcome {
	w.way.moves++
	p := &w.parts[c.part-1]
	p.Dir, p.Why = c.state.folders.only(), "which folder it enters is not known"
	p.Reading.Readonly, p.Reading.Known, p.Reading.Why = false, false, p.Why
	return outcome{ok: folders{}, fail: c.state.folders}
}

// enter goes to a folder from each of those that are possible.
func (w *walker) enter(c *command, target programs.Word, physical bool) outcome {
	s := c.state
	w.way.moves++
	if !target.Known || target.Text == "" || w.facts.adrift || w.searched(target.Text, s) {
		return w.lost(c)
	}
	from := s.folders.list
	if path.IsAbs(target.Text) {
		from = []string{"/"}
	}
	o := outcome{fail: s.folders, sure: !w.risky}
	var there []string
	for _, dir := range from {
		name, sure, known := w.entered(target.Text, dir, physical)
		if !known {
			return w.lost(c)
		}
		o.sure = o.sure && sure
		there = append(there, name)
	}
	if len(there) == 0 {
		return w.lost(c)
	}
	o.ok = in(there[0])
	for _, name := range there[1:] {
		o.ok = o.ok.or(in(name))
	}
	if way := s.folders.trail; way != nil {
		from := s.folders
		o.ok.trail = &trail{before: &from, stacked: way.stacked}
	}
	w.parts[c.part-1].Path = o.ok.only()
	return o
}

// searched reports whether CDPATH may lead elsewhere. It is not handed to the command, so
// it counts only if the text assigns it.
func (w *walker) searched(target string, s *state) bool {
	if path.IsAbs(target) || target == "." || target == ".." || strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../") {
		return false
	}
	_, assigned := w.lookup("CDPATH", s)
	return assigned
}

// entered says where cd leads from one folder, and whether it surely succeeds. The shell
// takes `..` off the name and not off the folder that it leads to, if that is there.
func (w *walker) entered(target, dir string, physical bool) (name string, sure, known bool) {
	if !path.IsAbs(target) {
		target = dir + "/" + target
	}
	clean := path.Clean(target)
	if strings.HasPrefix(clean, "/proc/") || strings.HasPrefix(clean, "/dev/fd") {
		return "", false, false
	}
	dots := strings.Contains(target, "..")
	real, kind := w.world.Look(clean)
	if physical {
		return real, kind == Folder && !w.changed, !dots
	}
	if dots && kind != Folder {
		return "", false, false
	}
	return clean, kind == Folder && !w.changed && (!dots || w.passable(target)), true
}

// passable reports whether there is a folder before each `..` of a path: otherwise the
// shell does not take it off the name.
func (w *walker) passable(target string) bool {
	at := "/"
	for _, part := range strings.Split(target, "/") {
		if part == ".." {
			if _, kind := w.world.Look(at); kind != Folder {
				return false
			}
		}
		at = path.Join(at, part)
	}
	return true
}
