package shell

import (
	"path"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell/analysis"
)

// code is the write of a file that the command runs: a script that it names, or what the
// folder makes it run. Nil if it runs none, or a sandbox holds it.
func (j *judging) code(p *analysis.Part) *approval.Act {
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
	act := j.places.act(roots.Write, name, false)
	return &act
}
