package shell

import (
	"fmt"
	"path"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/programs"
)

var accesses = map[programs.Kind]roots.Access{
	programs.Read: roots.AccessRead, programs.Write: roots.AccessWrite, programs.Delete: roots.AccessDelete,
}

var actNames = map[programs.Kind]string{
	programs.Read: policy.ActReadFile, programs.Write: policy.ActWriteFile, programs.Delete: policy.ActDeleteFile,
}

// file judges a file that a command touches, by the word of the root it is in.
func (j *judging) file(p *analysis.Part) policy.Act {
	if p.Path == "" {
		return policy.Act{
			Name: actNames[p.Access], Target: policy.UnknownTarget(policy.KindPath), ByName: true,
			Verdict: policy.VerdictAsk, Why: orElse(p.Why, "the file is unknown before it runs"),
			// An empty variable turns the folder that was meant into the root of everything.
			PersonOnly: p.Access == programs.Delete,
		}
	}
	act := j.places.act(accesses[p.Access], p.Path, p.Many)
	if p.Inside {
		within := j.places.act(accesses[p.Access], path.Join(p.Path, "…"), true)
		within.Target = act.Target
		act = within
	}
	if p.Redirect {
		act.ByName = true
	}
	if p.Many && (!p.Names || p.Operand.Glob) {
		j.many(p, &act)
	}
	return act
}

// many judges a path that stands for many files by what is there now.
func (j *judging) many(p *analysis.Part, act *policy.Act) {
	for _, m := range p.Matches {
		if j.ownedByGit(p, m) {
			continue
		}
		one := j.places.act(accesses[p.Access], m, false)
		switch {
		case j.byGit(p) && j.opts.Sandbox != nil && !j.widened && j.places.at(m).Protected():
			// It is read-only in the sandbox: where a commit has another version, git fails.
		case j.opts.Denied != nil && j.opts.Denied(j.ctx, one):
			j.stricter(act, one, "is denied")
			act.PersonOnly = true
			return
		case one.Secret:
			j.stricter(act, one, "looks like a secret")
		case one.Verdict == policy.VerdictBlock:
			j.stricter(act, one, "may not be reached")
		case one.Verdict < act.Verdict, one.PersonOnly:
			j.stricter(act, one, "asks")
			act.PersonOnly = act.PersonOnly || one.PersonOnly
		}
	}
	if p.More && act.Verdict == policy.VerdictFree {
		act.Verdict, act.ByName = policy.VerdictAsk, true
		act.Why = "it matches too many files to check each"
	}
}

// ownedByGit reports whether the file is git's own and git touches it.
func (j *judging) ownedByGit(p *analysis.Part, match string) bool {
	return j.byGit(p) && strings.HasPrefix(strings.TrimPrefix(match, p.Path)+"/", "/.git/")
}

// byGit reports whether git changes what lies there.
func (j *judging) byGit(p *analysis.Part) bool {
	return p.Inside && p.Cause > 0 && j.script.Parts[p.Cause-1].Reading.Program == "git"
}

// stricter makes the act of many files ask because of one of them.
func (j *judging) stricter(act *policy.Act, one policy.Act, how string) {
	act.Verdict = min(act.Verdict, policy.VerdictAsk)
	act.ByName = true
	act.Why = fmt.Sprintf("among these files is %s, which %s", one.Target, how)
}

// places resolves host paths, each once.
type places struct {
	set   *roots.Set
	known map[string]place
}

type place struct {
	roots.Place
	inside bool
	err    error
}

func (ps *places) at(abs string) place {
	if p, ok := ps.known[abs]; ok {
		return p
	}
	var p place
	p.Place, p.inside, p.err = ps.set.ResolveHost(abs)
	ps.known[abs] = p
	return p
}

func (ps *places) act(a roots.Access, abs string, folder bool) policy.Act {
	p := ps.at(abs)
	switch {
	case p.err != nil:
		return policy.Act{
			Name: actName(a), Target: policy.UnknownTarget(policy.KindPath), ByName: true,
			Verdict: policy.VerdictAsk, Why: p.err.Error(),
		}
	case folder || p.Info != nil && p.Info.IsDir():
		return p.FolderAct(a)
	}
	return p.Act(a)
}

func actName(a roots.Access) string {
	for kind, access := range accesses {
		if access == a {
			return actNames[kind]
		}
	}
	return policy.ActWriteFile
}

// name returns how acts name a folder: virtually inside a root, else absolutely. Of
// several names of a root it is always the same one: a yes that holds in a folder
// holds there by each.
func (ps *places) name(abs string) string {
	if abs == "" {
		return ""
	}
	if p := ps.at(abs); p.err == nil {
		return p.Common()
	}
	return abs
}

func (ps *places) inside(abs string) bool { return abs != "" && ps.at(abs).inside }

// writable reports whether tools can change what lies in the folder.
func (ps *places) writable(folder string) bool {
	p := ps.at(folder)
	return p.err != nil || p.inside && p.FolderAct(roots.AccessWrite).Verdict != policy.VerdictBlock
}

// withinReach reports whether tools can write to a folder in which programs are
// looked for, so that a program's name may come to mean something else.
func withinReach(set *roots.Set, searched string) bool {
	ps := places{set: set, known: map[string]place{}}
	for folder := range strings.SplitSeq(searched, ":") {
		if folder != "" && ps.writable(path.Clean(folder)) {
			return true
		}
	}
	return false
}

// under reports whether the path lies in one of the named roots.
func (ps *places) under(names []string, abs string) bool {
	p := ps.at(abs)
	if p.err != nil || !p.inside {
		return false
	}
	for _, name := range names {
		root, err := ps.set.Resolve(name)
		if err != nil {
			continue
		}
		if written, resolved := p.Within(root); written && resolved {
			return true
		}
	}
	return false
}

// join returns a path as a command in the folder means it; empty for unknown.
func join(dir, name string) string {
	switch {
	case strings.HasPrefix(name, "/"):
		return path.Clean(name)
	case dir == "":
		return "/"
	case strings.HasPrefix(name, "~"):
		return "/" // the shell has expanded it, or the program will: outside
	}
	return path.Join(dir, name)
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
