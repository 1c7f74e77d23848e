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

// maxHistory is how many secrets in a repository are named; they are all asked about with the first ones.
const maxHistory = 5

// history returns the secrets that a command of git may print although it does not name them: git show prints what a
// commit changed, and a tracked .env may be among that. What the index names is looked at, which costs little; a
// secret that was removed from the repository is not found.
func (j *judging) history(i int) []policy.Act {
	p := &j.script.Parts[i]
	if p.Reading.Program != "git" || p.Elsewhere || len(p.Reading.Sub) == 0 {
		return nil
	}
	prints, since := printsContent(p.Reading.Sub[0], gitArguments(p.Words))
	dir := folderOf(p)
	tracker, can := j.world.(analysis.Tracker)
	if !prints || dir == "" || !can {
		return nil
	}
	among := j.limits(p, dir)
	named := func(abs string) bool { // which is asked about by itself
		return slices.ContainsFunc(j.script.Parts, func(q analysis.Part) bool {
			return q.Kind == analysis.Touches && q.Access == programs.Read && q.Cause == i+1 && q.Path == abs
		})
	}
	files, ok := tracker.GitTracked(dir, func(abs string) bool {
		return j.roots.LooksSecret(abs) && !named(abs) && among(abs)
	})
	if !ok {
		return nil // a repository that git can hardly use either
	}
	var acts []policy.Act
	for _, f := range files {
		act := j.places.act(roots.AccessRead, f.Path, false)
		if since && !f.Changed || !act.Secret || len(acts) == maxHistory {
			continue
		}
		act.Why = "git may print " + act.Target.String() + ", which looks like a secret"
		acts = append(acts, act)
	}
	return acts
}

// gitArguments are the words behind the subcommand.
func gitArguments(words []programs.Word) []programs.Word {
	for i := 1; i < len(words); i++ {
		switch text := words[i].Text; {
		case slices.Contains([]string{"-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env",
			"--super-prefix", "--attr-source"}, text):
			i++
		case !strings.HasPrefix(text, "-"):
			return words[i+1:]
		}
	}
	return nil
}

// patchFlags make commands print content that otherwise list commits or names.
var patchFlags = []string{"-p", "-u", "--patch", "-c", "--cc", "--dd", "-L", "-W", "--function-context", "--word-diff",
	"--color-words", "--patch-with-raw", "--patch-with-stat", "--binary", "--remerge-diff", "--unified"}

// nameFlags make commands print names or numbers in place of content.
var nameFlags = []string{"-s", "--no-patch", "--stat", "--shortstat", "--numstat", "--dirstat", "--summary", "--name-only",
	"--name-status", "--raw", "--quiet", "--check", "--compact-summary"}

// printsContent reports whether a command of git prints what files hold that it does not name, and whether only of
// those that changed since they were added.
func printsContent(sub string, args []programs.Word) (prints, since bool) {
	patch, names, all := false, false, false
	var texts, operands []string
	for _, w := range args {
		name, _, _ := strings.Cut(w.Text, "=")
		texts = append(texts, w.Text)
		switch {
		case !w.Known:
			patch, all = true, true
		case w.Text == "--no-index":
			return false, false // which names its files
		case slices.Contains(patchFlags, name), strings.HasPrefix(name, "-U"), strings.HasPrefix(name, "-L"),
			strings.HasPrefix(name, "-") && !strings.HasPrefix(name, "--") && strings.Contains(name, "p"):
			patch = true
		case slices.Contains(nameFlags, name):
			names = true
		case !strings.HasPrefix(w.Text, "-"):
			operands = append(operands, w.Text)
		}
	}
	has := func(flags ...string) bool {
		return slices.ContainsFunc(flags, func(f string) bool { return slices.Contains(texts, f) })
	}
	// REV:PATH names its file; braces may hold a colon too.
	other := func(o string) bool {
		return !strings.Contains(o, ":") || strings.HasPrefix(o, ":/") || strings.Contains(o, "{")
	}
	onlyBlobs := !all && len(operands) > 0 && !slices.ContainsFunc(operands, other)
	switch sub {
	case "show":
		return patch || !names && !onlyBlobs, false
	case "log", "whatchanged", "reflog", "diff-tree", "diff-index", "diff-files":
		return patch, false
	case "diff":
		return patch || !names, len(operands) == 0 && !all && !has("--cached", "--staged", "--")
	case "stash":
		return patch || has("show") && !names, false
	case "cat-file":
		return all || !slices.ContainsFunc(operands, func(o string) bool { return !other(o) }) && !has("-t", "-s", "-e"), false
	case "format-patch", "archive", "fast-export", "bundle", "range-diff", "request-pull":
		return true, false
	}
	return false, false
}

// limits returns which files a command of git is limited to by the paths that it names: those behind --, or else
// those that are there. A word that names no file may be a branch; git takes no word that could be either.
func (j *judging) limits(p *analysis.Part, dir string) func(abs string) bool {
	everything := func(string) bool { return true }
	behind := slices.IndexFunc(p.Words, func(w programs.Word) bool { return w.Text == "--" })
	var paths []string
	for _, e := range p.Reading.Effects {
		at := e.Arg + 1
		if e.Kind != programs.Read || e.Arg < 0 || at >= len(p.Words) || behind >= 0 && at < behind {
			continue
		}
		w := p.Words[at]
		abs := path.Join(dir, w.Text)
		if path.IsAbs(w.Text) {
			abs = path.Clean(w.Text)
		}
		_, kind := j.world.Look(abs)
		switch {
		case !w.Known || strings.ContainsAny(w.Text, "*?[:"):
			return everything
		case behind >= 0 || kind != analysis.Nothing:
			paths = append(paths, abs)
		}
	}
	if len(paths) == 0 {
		return everything
	}
	return func(abs string) bool {
		return slices.ContainsFunc(paths, func(p string) bool { return abs == p || below(abs, p) })
	}
}
