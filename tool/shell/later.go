package shell

import (
	"slices"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/shell/analysis"
)

// leaveForLater frees what is known only when the command runs, if config says that it is
// judged then. What another program starts is not seen then, so that stays as it is.
func (j *judging) leaveForLater() {
	for i := range j.script.Parts {
		k := j.act[i] - 1
		if k < 0 || j.acts[k].Verdict != policy.VerdictAsk || !j.byShell(i) {
			continue
		}
		a := &j.acts[k]
		if a.Opaque || a.Target.Unknown || slices.ContainsFunc(a.Target.Words, func(w policy.Word) bool { return w.Unknown }) {
			a.Later, a.Verdict, a.PersonOnly = true, policy.VerdictFree, false
			a.Why = "it is judged as it runs, with its real values (" + sourceOr(j.cfg.JudgeSource) + ")"
		}
	}
}

// byShell reports whether the shell itself does what a part says, or a program that the shell
// starts with these words: not what a program such as xargs starts in turn.
func (j *judging) byShell(i int) bool {
	p := &j.script.Parts[i]
	if p.Elsewhere {
		return false
	}
	for inner := p.Inner; inner && p.Cause > 0; inner = p.Inner {
		p = &j.script.Parts[p.Cause-1]
		if p.Kind == analysis.Runs && !p.Builtin && !analysis.Interprets(p.Reading.Program) {
			return false
		}
	}
	return true
}
