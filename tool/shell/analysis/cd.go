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
	if !ok || len(c.words)-rest > 1 {
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
	return w.enter(c, target, physical)
}

func pushd(w *walker, c *command) outcome {
	w.harmless(c)
	if len(c.words) != 2 || !c.words[1].Known || strings.HasPrefix(c.words[1].Text, "+") || c.words[1].MayBeFlag() {
		return w.lost(c)
	}
	return w.enter(c, c.words[1], false)
}

func popd(w *walker, c *command) outcome {
	w.harmless(c)
	return w.lost(c)
}

// lost is the outcome of going to a folder that is not known.
func (w *walker) lost(c *command) outcome {
	p := &w.parts[c.part-1]
	p.Why = "which folder it enters is not known"
	p.Reading.Readonly, p.Reading.Known, p.Reading.Why = false, false, p.Why
	return outcome{ok: folders{}, fail: c.state.folders}
}

// enter goes to a folder from each of those that are possible.
func (w *walker) enter(c *command, target programs.Word, physical bool) outcome {
	s := c.state
	if !target.Known || target.Text == "-" || target.Text == "" || w.adrift || w.searched(target.Text, s) {
		return w.lost(c)
	}
	from := s.folders.list
	if path.IsAbs(target.Text) {
		from = []string{"/"}
	}
	o := outcome{fail: s.folders, sure: true}
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
	o.ok = folders{there[:1]}
	for _, name := range there[1:] {
		o.ok = o.ok.or(folders{[]string{name}})
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
	_, assigned := s.lookup("CDPATH")
	return assigned || w.isVolatile("CDPATH")
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
