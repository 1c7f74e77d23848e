package analysis

import (
	"path"
	"slices"
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
	p.Dir, p.Why = c.state.folders.only(), "which folder it enters is unknown before it runs"
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
	if path.IsAbs(target) || target == "." || target == ".." || strings.HasPrefix(target, "./") ||
		strings.HasPrefix(target, "../") {
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

// maxFolders is how many possible working folders are followed; beyond, the folder is
// unknown.
const maxFolders = 4

// folders are those that a command may run in. None means that it is not known.
type folders struct {
	list []string
	// trail is the way there; nil if it is not known.
	trail *trail
	// within is a folder in or below which the one lies that is not known; empty if that is
	// not known either.
	within string
}

// A trail is where `cd -` and popd lead back to.
type trail struct {
	before  *folders // nil for nowhere
	stacked *stack
}

// A stack are the folders that pushd left, the last one first.
type stack struct {
	folders folders
	under   *stack
}

// in is a folder without a way there.
func in(dir string) folders { return folders{list: []string{dir}} }

// only returns the folder if there is exactly one.
func (f folders) only() string {
	if len(f.list) == 1 {
		return f.list[0]
	}
	return ""
}

// runsIn returns the folder if there is exactly one, or one that it lies in: where a program
// runs says which root it runs in.
func (f folders) runsIn() string {
	if !f.known() {
		return f.within
	}
	return f.only()
}

func (f folders) known() bool { return len(f.list) > 0 }

// or returns the folders of both.
func (f folders) or(g folders) folders {
	if !f.known() || !g.known() {
		if f.within == g.within {
			return folders{within: f.within}
		}
		return folders{}
	}
	if len(f.list) == len(g.list) && &f.list[0] == &g.list[0] && f.trail == g.trail {
		return f
	}
	both, way := f.list, f.trail
	if f.trail != g.trail {
		way = nil
	}
	for _, dir := range g.list {
		if !slices.Contains(both, dir) {
			both = append(slices.Clip(both), dir)
		}
	}
	if len(both) > maxFolders {
		return folders{}
	}
	return folders{list: both, trail: way}
}

// An outcome is where a command leaves the shell: in which folder if it succeeds, and in
// which if it fails. Sure says that it cannot fail.
type outcome struct {
	ok, fail folders
	sure     bool
}

// stays is the outcome of what does not change the folder.
func stays(f folders) outcome { return outcome{ok: f, fail: f} }

// either are the folders that are possible after it.
func (o outcome) either() folders {
	if o.sure {
		return o.ok
	}
	return o.ok.or(o.fail)
}

// negated is the outcome of `! command`.
func (o outcome) negated() outcome {
	if o.sure {
		return stays(o.ok)
	}
	return outcome{ok: o.fail, fail: o.ok}
}

// and is the outcome of `a && b`, or is that of `a || b`.
func (o outcome) and(b outcome) outcome {
	if o.sure {
		return b
	}
	return outcome{ok: b.ok, fail: o.fail.or(b.fail)}
}

func (o outcome) or(b outcome) outcome {
	if o.sure {
		return o
	}
	return outcome{ok: o.ok.or(b.ok), fail: b.fail}
}

// merge is the outcome of one or the other.
func (o outcome) merge(b outcome) outcome {
	return outcome{ok: o.ok.or(b.ok), fail: o.fail.or(b.fail), sure: o.sure && b.sure}
}
