package shell

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/redact"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/programs"
)

// A word is what config says about one command.
type word struct {
	verdict policy.Verdict
	why     string
	// allowed says by what the command is allowed together with what follows
	// from it; empty if it is not, or only as far as the preset goes.
	allowed string
	// by is the rule that allows the command, if one does and it is not of a preset.
	by *rule
}

func asks(format string, args ...any) word {
	return word{verdict: policy.VerdictAsk, why: fmt.Sprintf(format, args...)}
}

// word finds the verdict of a command: wrappers that do nothing themselves, then
// rules in order, the preset, the default. Denies are looked at elsewhere.
func (j *judging) word(i int, act *policy.Act) word {
	p := &j.script.Parts[i]
	if p.Reading.Transparent && p.Reading.Known && act.Dir != "" && act.Target.Words[0].Text == p.Words[0].Text {
		return word{verdict: policy.VerdictFree, why: "it only starts the programs listed below"}
	}
	for r := range j.rules {
		if w, ok := j.rule(&j.rules[r], i, act); ok {
			return w
		}
	}
	if j.cfg.Readonly && p.Reading.Readonly {
		switch why := j.notReadonly(p, act); {
		case why == "":
			return word{verdict: policy.VerdictFree, why: "read-only preset"}
		case !j.sandboxed:
			return asks("%s", why)
		}
	}
	if j.cfg.Readonly && p.Reading.Simple && j.freeFiles(i) && j.notReadonly(p, act) == "" {
		return word{verdict: policy.VerdictFree, why: "it only changes files that may be changed without asking"}
	}
	return j.fallback(p, act)
}

// freeFiles reports whether the command names files, and each of them is free.
func (j *judging) freeFiles(i int) bool {
	some := false
	for k := i + 1; k < len(j.script.Parts); k++ {
		if q := &j.script.Parts[k]; q.Cause == i+1 && q.Kind == analysis.Touches && !q.Redirect {
			if act := j.file(q); act.Verdict != policy.VerdictFree || act.PersonOnly {
				return false
			}
			some = true
		}
	}
	return some
}

// rule applies one rule, if it matches.
func (j *judging) rule(r *rule, i int, act *policy.Act) (word, bool) {
	p := &j.script.Parts[i]
	switch r.Approval {
	case tool.WordAsk, tool.WordOnce:
		if r.pattern.Meets(act.Target) == policy.MatchNo {
			return word{}, false
		}
		j.once = j.once || r.Approval == tool.WordOnce
		j.describe(r)
		return asks("asked by %s", sourceOr(r.Source)), true
	case tool.WordAllow:
		if act.Away || !r.covers(act.Target) || !j.pathsFit(r, i) {
			return word{}, false
		}
		if runs := j.gitRuns(p); runs != "" {
			return asks("%s", runs), true
		}
		by := "allowed by " + sourceOr(r.Source)
		if r.Preset != "" {
			j.byPreset = j.byPreset || !p.Reading.Complete
			return word{verdict: policy.VerdictFree, why: fmt.Sprintf("preset %s (%s)", r.Preset, sourceOr(r.Source))}, true
		}
		j.describe(r)
		return word{verdict: policy.VerdictFree, why: by, allowed: by, by: r}, true
	}
	return word{}, false
}

func (j *judging) describe(r *rule) {
	if r.Description != "" && !slices.Contains(j.described, r.Description) {
		j.described = append(j.described, r.Description)
	}
}

// notReadonly says why the preset does not cover a command that only reads.
func (j *judging) notReadonly(p *analysis.Part, act *policy.Act) string {
	switch first := act.Target.Words[0].Text; {
	case j.gitRuns(p) != "":
		return j.gitRuns(p)
	case first != p.Words[0].Text:
		return "it sets " + first[:strings.IndexByte(first, '=')] + ", which programs obey"
	case j.shows(p) != "":
		return "it may show " + j.shows(p)
	case strings.Contains(first, "/"):
		return "presets name programs by name, not by path"
	case !j.places.inside(folderOf(p)):
		return "it runs outside of every root"
	case p.Builtin && p.Path != "" && !j.places.inside(p.Path):
		return "it leaves the roots"
	case !p.Builtin && j.exposed && j.places.writable(path.Dir(j.world.Program(first))):
		return first + " is found in a folder that tools may write"
	case first == "go" && j.exposed:
		return "go.mod may name another version of go, which is looked for in a folder that tools may write"
	}
	return ""
}

// gitRuns says which programs of the repository git would run; empty if none. Commands that
// somebody else runs meet no hardened git, nor does a git that was not foreseen.
func (j *judging) gitRuns(p *analysis.Part) string {
	runs := p.GitRuns
	if j.plain {
		runs = slices.Concat(runs, p.GitPlain)
	}
	if len(runs) == 0 {
		return ""
	}
	return "git would run a program that the repository names: " + strings.Join(runs, ", ")
}

// shows says what of the environment a command may show that is nobody else's business; empty
// if nothing.
func (j *judging) shows(p *analysis.Part) string {
	for _, name := range slices.Concat(p.Reading.Shows, j.script.Shows) {
		switch {
		case name == "":
			return "the environment, which may hold secrets"
		case j.secretVariable(name):
			return "$" + name + ", which looks like a secret"
		}
	}
	return ""
}

// secretVariable reports whether a variable of the environment looks like a secret. Variables
// of a text's own have small letters, unless the environment has one of that name.
func (j *judging) secretVariable(name string) bool {
	if name == "PWD" || !redact.SecretName(name) && !strings.HasSuffix(name, "_KEY") && !strings.HasSuffix(name, "_PASS") {
		return false
	}
	_, set := j.world.Variable(name)
	return set || name == strings.ToUpper(name)
}

// fallback is the default of the config.
func (j *judging) fallback(p *analysis.Part, act *policy.Act) word {
	d := j.cfg.Default
	switch {
	case j.sandboxed && gitLoses(p, act) != "":
		j.notSandboxed = gitLoses(p, act)
		return asks("%s", j.notSandboxed)
	case j.sandboxed:
		return j.sandboxedWord()
	case d.ByEffect:
		return j.byEffect(p, act)
	case d.Approval == tool.WordDeny:
		reason := d.Reason
		if reason == "" {
			reason = "blocked by policy"
		}
		return word{verdict: policy.VerdictBlock, why: fmt.Sprintf("%s: %s denies commands that no rule names", reason, sourceOr(d.Source))}
	case d.Approval == tool.WordAllow:
		if why := j.notCertain(p, act); why != "" {
			return asks("%s", why)
		}
		by := "allowed by " + sourceOr(d.Source)
		return word{verdict: policy.VerdictFree, why: by, allowed: by}
	case d.Approval == tool.WordOnce:
		j.once = true
	}
	if j.notSandboxed != "" {
		return asks("no rule allows it; %s", j.notSandboxed)
	}
	if act.Away && j.someRuleCovers(act) {
		return asks("rules for commands hold in %s and below", j.cwd.Name())
	}
	if !p.Reading.Known && p.Reading.Why != "" {
		return asks("no rule allows it; %s", p.Reading.Why)
	}
	return asks("no rule allows it")
}

// someRuleCovers reports whether a rule would allow the command at home.
func (j *judging) someRuleCovers(act *policy.Act) bool {
	return slices.ContainsFunc(j.rules, func(r rule) bool {
		return r.Approval == tool.WordAllow && r.covers(act.Target)
	})
}

// notCertain says why a default that allows does not cover the command: words
// that are not known, or code that cannot be read.
func (j *judging) notCertain(p *analysis.Part, act *policy.Act) string {
	for _, w := range act.Target.Words {
		if w.Unknown && !w.Plain {
			return w.Text + " is known only when it runs"
		}
	}
	switch {
	case p.Reading.Opaque != "":
		return p.Reading.Opaque
	case act.Target.Words[0].Text != p.Words[0].Text:
		return "it sets " + act.Target.Words[0].Text + ", which programs obey"
	case act.Away:
		return "it runs outside of " + j.cwd.Name()
	case j.gitRuns(p) != "":
		return j.gitRuns(p)
	}
	for _, i := range p.Reading.Spelled {
		return p.Words[min(i+1, len(p.Words)-1)].Text + " makes it do more than its usual job"
	}
	return ""
}

// byEffect leaves the word to the files and hosts that the command touches, if
// those are all it does.
func (j *judging) byEffect(p *analysis.Part, act *policy.Act) word {
	switch {
	case !p.Reading.Known:
		why := p.Reading.Why
		if why == "" {
			why = "what it does is not known"
		}
		return asks("%s", why)
	case !p.Reading.Complete, p.Reading.Raises:
		return asks("its effects are unknown before it runs")
	}
	if why := j.notReadonly(p, act); why != "" {
		return asks("%s", why)
	}
	return word{verdict: policy.VerdictFree, why: "as free as what it touches"}
}

// pathsFit reports whether every path among the arguments resolves into the
// roots that the rule names.
func (j *judging) pathsFit(r *rule, i int) bool {
	if len(r.Paths) == 0 {
		return true
	}
	p := &j.script.Parts[i]
	if p.Reading.Program == "" {
		for _, w := range spelledPaths(p.Words[1:]) {
			if !w.Known || !j.places.under(r.Paths, join(p.Dir, w.Text)) {
				return false
			}
		}
		return true
	}
	for k := i + 1; k < len(j.script.Parts); k++ {
		q := &j.script.Parts[k]
		if q.Cause == i+1 && q.Kind == analysis.Touches && !q.Redirect &&
			(q.Path == "" || !j.places.under(r.Paths, q.Path)) {
			return false
		}
	}
	return true
}

// pathsIn returns what may be a path in a word: the word itself, or the value of
// a flag.
func pathsIn(w programs.Word) []programs.Word {
	if !w.Known || !strings.HasPrefix(w.Text, "-") {
		return []programs.Word{w}
	}
	if _, value, ok := strings.Cut(w.Text, "="); ok {
		return []programs.Word{programs.Literal(value)}
	}
	if !strings.HasPrefix(w.Text, "--") && len(w.Text) > 2 && strings.ContainsAny(w.Text[2:], "/~.") {
		return []programs.Word{programs.Literal(w.Text[2:])}
	}
	return nil
}

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
	if p.Builtin || p.Elsewhere || !p.Words[0].Known || !j.places.inside(folder) || r.Opaque != "" ||
		r.Stdin || r.Raises {
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
	case first == "npx" && len(r.Runs) == 1 && len(r.Runs[0].Words) > 0 && own(path.Join(folder, "node_modules/.bin",
		r.Runs[0].Words[0].Text)):
	default:
		return ""
	}
	return j.places.at(folder).RootPath()
}
