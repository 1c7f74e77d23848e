package analysis

import (
	"github.com/assent-dev/assent/tool/shell/programs"
)

// effects turns what a program does into parts, and walks the commands that it starts.
func (w *walker) effects(c *command, r programs.Reading) {
	for _, e := range r.Effects {
		if !w.over {
			w.effect(c, e)
		}
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
		w.connect(c, p, e)
		return
	}
	if e.Unpiped && (c.stdin.fed || !c.stdin.given && w.at.piped) {
		return
	}
	p.Kind, p.Access, p.Names, p.Inside = Touches, e.Kind, e.Names, e.Tree && (e.Arg < 0 || e.Kind == programs.Write)
	p.leaves = leaves{e.Only, e.Visible && !w.configured(c)}
	if e.Into {
		w.into(p, e, c)
		return
	}
	for _, what := range w.workTree(c, cause.Reading, e) {
		w.touch(p, what, c.state, e.Tree)
	}
}
