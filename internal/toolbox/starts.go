package toolbox

import (
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/system"
)

// Starts returns the commands that a program with these words says in plain words that it is, or starts.
func Starts(argv []string, dir string, environ []string) (acts []policy.Act) {
	for _, p := range analysis.ReadStart(analysis.Start{Argv: argv, Dir: dir}, system.New(dir, environ)).Parts {
		if p.Kind != analysis.Runs {
			continue
		}
		act := policy.Act{Name: policy.ActShell, Target: policy.Target{Kind: policy.KindWords, Flags: p.Reading.Flags}}
		for _, w := range p.Words {
			act.Target.Words = append(act.Target.Words, policy.Word{Text: w.Text, Unknown: !w.Known})
		}
		acts = append(acts, act)
	}
	return acts
}
