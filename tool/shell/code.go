package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/programs"
)

// code is the write of a file that the command runs: a script that it names, or what the
// folder makes it run. Nil if it runs none, or a sandbox holds it.
func (j *judging) code(p *analysis.Part) *policy.Act {
	folder := folderOf(p)
	if j.opts.Sandbox != nil || folder == "" || !p.Words[0].Known {
		return nil
	}
	name := path.Join(folder, "…") // any file that lies there
	switch scripts := p.Reading.Scripts; {
	case strings.Contains(p.Words[0].Text, "/"):
		name = join(folder, p.Words[0].Text)
	case len(scripts) > 0 && scripts[0].Known:
		name = join(folder, scripts[0].Text)
	case !p.Reading.RunsFiles():
		return nil
	}
	act := j.places.act(roots.AccessWrite, name, false)
	return &act
}

// project is the root whose own code the command runs: by a program that the table knows to
// run it, as a script, or as a program that lies there. Empty if it runs none.
func (j *judging) project(p *analysis.Part) string {
	folder, r := folderOf(p), &p.Reading
	if p.Builtin || p.Elsewhere || !p.Words[0].Known || !j.places.inside(folder) || r.Opaque != "" || r.Stdin || r.Raises {
		return ""
	}
	own := func(name string) bool {
		_, kind := j.world.Look(name)
		return kind != analysis.Nothing && j.places.inside(name)
	}
	outside := func(s programs.Word) bool { return !s.Known || !own(join(p.Dir, s.Text)) }
	switch first := p.Words[0].Text; {
	case strings.Contains(first, "/") && !own(join(p.Dir, first)), slices.ContainsFunc(r.Scripts, outside):
		return ""
	case strings.Contains(first, "/"), len(r.Scripts) > 0, r.Project:
	case first == "npx" && len(r.Runs) == 1 && len(r.Runs[0].Words) > 0 && own(path.Join(folder, "node_modules/.bin", r.Runs[0].Words[0].Text)):
	default:
		return ""
	}
	return j.places.at(folder).RootPath()
}
