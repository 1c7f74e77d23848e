package analysis

import (
	"path"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// effects turns what a program does into parts, and walks the commands that it starts.
func (w *walker) effects(c *command, r programs.Reading) {
	for _, e := range r.Effects {
		w.effect(c, e)
	}
	for _, script := range r.Scripts {
		w.scriptFile(c, script)
		if script.Known && isDevice(script.Text) {
			w.unknown(c.part, nil, "runs what it is handed as a file")
		}
	}
	for _, run := range r.Runs {
		w.inner(c, run)
	}
	switch {
	case r.Stdin && c.stdin.text.Known:
		w.scriptText(c, c.stdin.text.Text, shellOf(r.Program), nil, w.handed(c.state))
	case r.Stdin:
		w.unknown(c.part, nil, "runs what arrives on standard input")
	case r.Opaque != "":
		w.unknown(c.part, nil, r.Opaque)
	}
}

// effect adds the parts of one effect.
func (w *walker) effect(c *command, e programs.Effect) {
	cause := w.parts[c.part-1]
	p := Part{Cause: c.part, Line: cause.Line, Source: cause.Source, ByFlag: e.ByFlag}
	if e.Kind == programs.Connect {
		p.Kind, p.Port, p.TLS, p.Operand = Connects, e.Port, e.TLS, e.What
		if e.What.Known {
			p.Host = e.What.Text
		} else {
			p.Why = "the host is not known"
		}
		w.add(p)
		return
	}
	if e.Unpiped && (c.stdin.fed || !c.stdin.given && w.at.piped) {
		return
	}
	p.Kind, p.Access, p.Names, p.Inside = Touches, e.Kind, e.Names, e.Tree && (e.Arg < 0 || e.Kind == programs.Write)
	if e.Into {
		w.into(p, e, c)
		return
	}
	for _, what := range w.workTree(c, cause.Reading, e) {
		w.touch(p, what, c.state, e.Tree)
	}
}

// into adds the parts for a file that goes to a path, or into a folder of that name.
func (w *walker) into(p Part, e programs.Effect, c *command) {
	if !e.What.Known || w.at.elsewhere || isDevice(e.What.Text) {
		w.touch(p, e.What, c.state, e.Tree)
		return
	}
	p.Operand = e.What
	w.changed = true
	dirs := c.state.folders.list
	if len(dirs) == 0 || w.adrift || path.IsAbs(e.What.Text) {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		w.intoFrom(p, e, dir, c.after)
	}
}

// intoFrom adds them for one working folder. If commands before may have made a folder
// there, the file may go to either place.
func (w *walker) intoFrom(p Part, e programs.Effect, dir string, after bool) {
	name, ok := w.absolute(e.What.Text, dir)
	if !ok {
		p.Why = "the file is not known"
		w.add(p)
		return
	}
	_, kind := w.world.Look(name)
	if kind == Folder {
		w.intoFolder(p, e, name)
		return
	}
	p.Path = name
	w.add(p)
	if after {
		w.intoFolder(p, e, name)
	}
}

// intoFolder adds the part for a file below a folder.
func (w *walker) intoFolder(p Part, e programs.Effect, folder string) {
	base := path.Base(e.From.Text)
	if !e.From.Known || base == "." || base == ".." || base == "/" {
		p.Path, p.Many, p.More = escapePattern(folder)+"/*", true, true
		p.Why = "which files it makes there is not known"
		w.add(p)
		return
	}
	p.Path = path.Join(folder, base)
	w.add(p)
}
