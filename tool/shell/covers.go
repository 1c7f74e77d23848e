package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/shell/analysis"
)

// covers reports whether the call that runs covers the open acts of something that it is
// about to do.
func (r *running) covers(j *judging, open []int) bool {
	return j != nil && !slices.ContainsFunc(open, func(i int) bool { return !r.coversAct(j, i) })
}

// coversAct reports whether an act was answered with the call: the same act, or one that
// was shown with words or files that were not known yet. Whatever those turn out to be, they
// must not be what nobody would have expected: a secret, a file outside the roots, or what
// only a person answers.
func (r *running) coversAct(j *judging, i int) bool {
	if i >= len(j.acts) {
		return false // a caller's word, which this tool knows nothing of
	}
	a := &j.acts[i]
	if a.Later {
		return true // it is judged when it happens, as a connection on a stage is
	}
	if slices.ContainsFunc(r.acts, func(shown policy.Act) bool { return sameAct(&shown, a) }) {
		return true
	}
	part := slices.Index(j.act, i+1)
	if part < 0 {
		return false // a file that the command does not name
	}
	p := &j.script.Parts[part]
	switch {
	case p.Kind == analysis.Unknown || a.Opaque || a.Target.Unknown:
		return r.coversUnknown(j, p, a)
	case p.Kind == analysis.Connects && p.Settled: // by settings that were not there yet
		return r.coversUnknown(j, p, a)
	case p.Kind == analysis.Runs:
		return r.coversWords(j, p, a, func(int) bool { return true })
	case p.Kind == analysis.Touches:
		return !a.Secret && j.places.inside(p.Path) && r.coversFile(p, a)
	}
	return false
}

func sameAct(shown, a *policy.Act) bool {
	return !shown.Later && a.Name == shown.Name && a.Dir == shown.Dir && (!a.PersonOnly || shown.PersonOnly) &&
		a.Target.Same(shown.Target)
}

// coversUnknown reports whether what a command does was no better known when it was shown.
func (r *running) coversUnknown(j *judging, p *analysis.Part, a *policy.Act) bool {
	if p.Cause == 0 || j.act[p.Cause-1] == 0 {
		return false
	}
	cause := &j.acts[j.act[p.Cause-1]-1]
	return r.coversWords(j, &j.script.Parts[p.Cause-1], cause, func(k int) bool { return r.untold(k, a) })
}

// coversWords reports whether a command was shown with these words, or with some that were
// not known and turned out to be these, in an act that fits. Variables that the text was seen
// to export stand before the words of each command that it then starts.
func (r *running) coversWords(j *judging, p *analysis.Part, a *policy.Act, fits func(shown int) bool) bool {
	words := a.Target.Words
	for len(words) > 0 {
		for k := range r.acts {
			shown := &r.acts[k]
			there := shown.Dir == a.Dir || shown.Dir == "" && j.places.inside(p.Dir)
			if !shown.Later && shown.Name == a.Name && there && (!a.PersonOnly || shown.PersonOnly) &&
				becomes(shown.Target.Words, words) && fits(k) {
				return true
			}
		}
		name, _, assigns := strings.Cut(words[0].Text, "=")
		if !assigns || len(words) == 1 || !r.exports(name) {
			return false
		}
		words = words[1:]
	}
	return false
}

// untold reports whether the act of that index was shown with something that was not known
// either, and that was not left to be judged later.
func (r *running) untold(k int, a *policy.Act) bool {
	for i := range r.script.Parts {
		p, at := &r.script.Parts[i], r.act[i]-1
		if p.Cause == 0 || r.act[p.Cause-1] != k+1 || at < 0 {
			continue
		}
		// What xargs hands over is known only before, from what stands on the other side of the pipe.
		if shown := &r.acts[at]; (shown.Opaque || shown.Target.Unknown || p.Kind == analysis.Unknown ||
			p.Operand.Input && p.Path != "") &&
			shown.Name == a.Name && !shown.Later && (!a.PersonOnly || shown.PersonOnly) {
			return true
		}
	}
	return false
}

// exports reports whether the text was seen to set a variable for all that follows.
func (r *running) exports(name string) bool {
	return slices.ContainsFunc(r.script.Parts, func(p analysis.Part) bool {
		return p.Kind == analysis.Assigns && p.Cause == 0 && p.Variable == name
	})
}

// becomes reports whether words are what others became, of which some were not known. An
// unknown one may become any number of words, but none that an allow would have to spell. The
// program itself must have been known.
func becomes(shown, words []policy.Word) bool {
	if len(shown) == 0 || len(words) == 0 || shown[0].Unknown || shown[0].Text != words[0].Text {
		return false
	}
	return matches(shown[1:], words[1:])
}

func matches(shown, words []policy.Word) bool {
	// As for globs: an unknown word is a star, and only the last one needs to be tried again.
	star, from := -1, 0
	i, k := 0, 0
	for k < len(words) {
		switch {
		case i < len(shown) && shown[i].Unknown:
			star, from = i, k
			i++
		case i < len(shown) && shown[i].Text == words[k].Text && shown[i].Unknown == words[k].Unknown:
			i, k = i+1, k+1
		case star >= 0 && !words[from].Spelled:
			from++
			i, k = star+1, from
		default:
			return false
		}
	}
	for i < len(shown) && shown[i].Unknown {
		i++
	}
	return i == len(shown)
}

// coversFile reports whether a file is one of those that were shown as many, or as not known.
func (r *running) coversFile(p *analysis.Part, a *policy.Act) bool {
	for k := range r.script.Parts {
		q := &r.script.Parts[k]
		at := r.act[k] - 1
		if q.Kind != analysis.Touches || q.Access != p.Access || at < 0 || r.acts[at].Later ||
			a.PersonOnly && !r.acts[at].PersonOnly {
			continue
		}
		switch {
		case q.Path == "":
			return true
		case q.Many && (slices.Contains(q.Matches, p.Path) || below(p.Path, q.Path)):
			return true
		case q.Many:
			if ok, err := path.Match(q.Path, p.Path); ok && err == nil {
				return true
			}
		}
	}
	return false
}

func below(name, folder string) bool {
	return name == folder || strings.HasPrefix(name, folder) && (folder == "/" || name[len(folder)] == '/')
}
