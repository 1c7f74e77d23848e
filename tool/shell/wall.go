package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/programs"
)

// wall is what the kernel is to hold a command to, from its parts: nothing is written but what
// it was read to write, and only the programs run that it was read to run. Programs are names
// as the command has them; whoever holds it finds the files. Where a part leaves open what it
// does, the wall says why it holds to nothing more than the profile.
func wall(s *analysis.Script, world analysis.World, bash bool) Wall {
	w := &walled{script: s, world: world}
	if bash {
		return Wall{Wall: sandbox.Wall{Why: "bash itself runs it"}}
	}
	w.Writes, w.Known = true, true
	for i := range s.Parts {
		w.part(&s.Parts[i])
	}
	if w.Why != "" {
		return Wall{Wall: sandbox.Wall{Why: w.Why}}
	}
	if !w.Writes {
		w.Files, w.Changed, w.Folders = nil, nil, nil
	}
	if !w.Known {
		w.Runs = nil
	}
	return w.Wall
}

// A Wall is what a command is to be held to, before its programs were looked for.
type Wall struct {
	sandbox.Wall
	// Known says that Runs are all programs that it starts.
	Known bool
	Runs  []Start
}

// Names are what the programs are called.
func (w Wall) Names() []string {
	names := []string{}
	for _, s := range w.Runs {
		names = append(names, s.Name)
	}
	return names
}

// A Start is a program that a command starts.
type Start struct {
	// Name is what it is called, or its absolute path.
	Name string
	// Starts are programs that it may start by itself, as [programs.Reading.Starts] has them.
	Starts []string
}

type walled struct {
	Wall
	script *analysis.Script
	world  analysis.World
}

func (w *walled) part(p *analysis.Part) {
	switch {
	case p.Kind == analysis.Unknown || p.Opaque:
		w.whole(p.Why)
	case p.Kind == analysis.Runs:
		w.runs(p)
	case p.Kind == analysis.Assigns && p.Variable == "PATH":
		w.Known = false
	case p.Kind == analysis.Touches && p.Access != programs.Read:
		w.touches(p)
	}
}

func (w *walled) whole(why string) {
	if w.Why == "" {
		w.Why = why
	}
	if w.Why == "" {
		w.Why = "what it does is not known"
	}
}

// runs adds a program.
func (w *walled) runs(p *analysis.Part) {
	if p.Builtin || p.Alias {
		return
	}
	if len(p.Words) == 0 || !p.Words[0].Known {
		w.whole("which program it runs is not known")
		return
	}
	name := p.Words[0].Text
	switch r := p.Reading; {
	case !r.Known:
		w.whole(name + ": " + r.Why)
	case !r.Complete:
		w.whole(name + " runs code of the project")
	case r.Raises, p.Elsewhere:
		w.whole(name + " does more than the sandbox can limit here")
	}
	if strings.Contains(name, "/") {
		name = join(p.Dir, name)
	}
	starts, known := p.Reading.Starts()
	setsPath := func(a programs.Assignment) bool { return a.Name == "PATH" }
	if !known || len(p.GitRuns) > 0 || slices.ContainsFunc(p.Env, setsPath) {
		w.Known = false
	}
	if p.Reading.Program == "git" {
		w.git(p)
	}
	if !slices.ContainsFunc(w.Runs, func(s Start) bool { return s.Name == name }) {
		w.Runs = append(w.Runs, Start{Name: name, Starts: starts})
	}
}

// git adds what a subcommand writes to the repository itself.
func (w *walled) git(p *analysis.Part) {
	if len(p.Reading.Sub) == 0 || !programs.GitWrites(p.Reading.Sub[0]) {
		return
	}
	dir := p.Dir
	if p.Reading.Dir.Text != "" {
		dir = join(dir, p.Reading.Dir.Text)
	}
	for at := path.Clean(dir); path.IsAbs(at); at = path.Dir(at) {
		switch real, kind := w.world.Look(path.Join(at, ".git")); {
		case kind == analysis.Folder:
			w.Folders = append(w.Folders, real)
			return
		case kind != analysis.Nothing, at == "/":
			w.Writes = false // a repository elsewhere
			return
		}
	}
	w.Writes = false
}

// touches adds a file that is written or removed.
func (w *walled) touches(p *analysis.Part) {
	switch {
	case p.Elsewhere:
		return
	case p.Path == "":
		w.Writes = false
		return
	}
	// Links on the way are followed: rules are about files, not names.
	at := base(p)
	real, kind := w.world.Look(at)
	above, _ := w.world.Look(path.Dir(at)) // where the name itself is, if it is a link
	cause := programs.Reading{}
	if p.Cause > 0 {
		cause = w.script.Parts[p.Cause-1].Reading
	}
	switch {
	case kind == analysis.Device:
	case p.Redirect && !p.Many:
		w.Files = append(w.Files, real)
	case p.Access == programs.Delete && !p.Inside && at == p.Path:
		w.Folders = append(w.Folders, above)
	case kind == analysis.Folder: // what is in it
		w.Folders = append(w.Folders, real)
	case cause.WritesInPlace() && !p.Many:
		w.Changed = append(w.Changed, real)
	default:
		w.Folders = append(w.Folders, above, path.Dir(real))
	}
}

// base is the path without what a pattern leaves open.
func base(p *analysis.Part) string {
	at := p.Path
	for p.Many && strings.ContainsAny(at, "*?[{") {
		at = path.Dir(at)
	}
	return at
}
