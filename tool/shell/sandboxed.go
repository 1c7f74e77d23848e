package shell

import (
	"fmt"
	"slices"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/programs"
)

// A Sandbox is what holds commands, as far as judging them depends on it.
type Sandbox interface {
	// Profile is the digest of what a command would be held to.
	Profile(Command) policy.Digest
	// Describe says in lines what the command would be held to beyond the policy's own profile.
	Describe(Command) []string
	// AutoAllow reports what keeps commands from running without a question only because they
	// are sandboxed.
	AutoAllow() AutoAllow
	// Widened reports whether a person let this command reach further before.
	Widened(Command) bool
	// Private reports whether what a command sees at the path is its own, and gone with it:
	// the sandbox's /tmp.
	Private(path string) bool
}

// AutoAllow is what keeps commands from running without a question only because they are
// sandboxed. The zero AutoAllow keeps none.
type AutoAllow struct {
	// Not says why no command can; empty if some can.
	Not string
	// Open says what the sandbox does not hold of what rules deny, or people of a team decide about, in files; a command of
	// which not every effect is known could meet it. Empty if it holds all.
	Open string
	// Asks says which root asks before something is done in it. A command of which every effect
	// is known runs if it does nothing of the kind; another could. Empty if no root asks.
	Asks string
}

// judge turns the parts of a script into acts. If config takes the sandbox for enough, and
// it is enough for all of them, they are free together; if something has to be asked
// anyway, everything is.
func (t *Tool) judge(in inquiry) *judging {
	j := t.judged(in)
	if t.cfg.Running && t.opts.Unsupported != nil && !in.now && !in.bash {
		j.leaveForLater()
	}
	return j
}

func (t *Tool) judged(in inquiry) *judging {
	if t.cfg.Default.WhenSandboxed != tool.WordAllow {
		return t.judgeParts(in, false, "")
	}
	why := t.notSandboxed(in)
	if why == "" {
		j := t.judgeParts(in, true, "")
		if j.free() {
			return j
		}
		why = j.notSandboxed
	}
	return t.judgeParts(in, false, why)
}

// notSandboxed says why the sandbox alone is not enough for the command; empty if it may be.
func (t *Tool) notSandboxed(in inquiry) string {
	if t.opts.Sandbox == nil {
		return "no sandbox for commands works here"
	}
	alone := t.opts.Sandbox.AutoAllow()
	switch {
	case alone.Not != "":
		return alone.Not
	case alone.Open != "" && !complete(in.script):
		return "the sandbox cannot block " + alone.Open
	case alone.Asks != "" && !complete(in.script):
		return alone.Asks
	case t.opts.Sandbox.Widened(in.command()):
		return "it was allowed to leave the sandbox before"
	}
	if why := t.uncovered(in.ctx, in.script); why != "" {
		return "what it changes could not be undone: " + why
	}
	return ""
}

// complete reports whether every effect of the script is known.
func complete(s *analysis.Script) bool {
	return !slices.ContainsFunc(s.Parts, func(p analysis.Part) bool {
		return p.Kind == analysis.Unknown || p.Opaque ||
			p.Kind == analysis.Runs && !p.Builtin && (!p.Reading.Known || !p.Reading.Complete)
	})
}

// free reports whether nothing has to be asked.
func (j *judging) free() bool {
	return !slices.ContainsFunc(j.acts, func(a policy.Act) bool {
		return a.Verdict != policy.VerdictFree && !a.Later || a.PersonOnly
	})
}

// sandboxedWord is the word on a command that the sandbox alone is enough for.
func (j *judging) sandboxedWord() word {
	by := fmt.Sprintf("runs in the sandbox, which is enough by %s", sourceOr(j.cfg.Default.Source))
	if j.rootAsks {
		return word{verdict: policy.VerdictFree, why: by} // what it does in the roots is asked
	}
	return word{verdict: policy.VerdictFree, why: by, allowed: by}
}

// sandboxedFile lets a file pass that the sandbox keeps from the command or gives it alone:
// one outside of the roots, or one of which only the command itself knows.
func (j *judging) sandboxedFile(act policy.Act, p *analysis.Part) policy.Act {
	if !j.sandboxed || act.Verdict != policy.VerdictAsk || act.Secret || act.PersonOnly {
		return act
	}
	if p.Path == "" && !j.rootAsks || p.Path != "" && !j.places.inside(p.Path) && !(j.rootAsks && j.mayBeInside(p)) {
		act.Verdict, act.Why = policy.VerdictFree, "the sandbox decides what is there"
	}
	return act
}

// privateFile lets a file pass that only the command itself sees. The host has other files by
// these names, which it does not reach.
func (j *judging) privateFile(act policy.Act, p *analysis.Part) policy.Act {
	if j.opts.Sandbox == nil || j.widened || p.Path == "" || p.Elsewhere || act.Verdict != policy.VerdictAsk || act.Secret ||
		j.mayBeInside(p) || !j.opts.Sandbox.Private(p.Path) {
		return act
	}
	act.Verdict, act.PersonOnly = policy.VerdictFree, false
	act.Why = "the sandbox gives each command a " + privateTop(p.Path) + " of its own"
	return act
}

// mayBeInside reports whether a file may be one of a root: by its own name, as a folder above a
// root, or as a pattern that leads into one.
func (j *judging) mayBeInside(p *analysis.Part) bool {
	at := base(p)
	above := func(r roots.Root) bool { return below(r.Host, at) }
	return j.places.inside(p.Path) || slices.ContainsFunc(p.Matches, j.places.inside) ||
		slices.ContainsFunc(j.roots.Roots(), above)
}

func privateTop(name string) string {
	for _, top := range []string{"/var/tmp", "/dev/shm"} {
		if below(name, top) {
			return top
		}
	}
	return "/tmp"
}

// named are the files that the script is known to touch.
func named(s *analysis.Script) []NamedFile {
	var out []NamedFile
	for i := range s.Parts {
		if p := &s.Parts[i]; p.Kind == analysis.Touches && p.Path != "" && !p.Many && !p.Elsewhere {
			out = append(out, NamedFile{Path: p.Path, Write: p.Access != programs.Read})
		}
	}
	return out
}

func connects(s *analysis.Script) bool {
	return slices.ContainsFunc(s.Parts, func(p analysis.Part) bool { return p.Kind == analysis.Connects })
}

// gitWrites reports whether the script changes a repository.
func gitWrites(s *analysis.Script) bool {
	return slices.ContainsFunc(s.Parts, func(p analysis.Part) bool { return writesGit(&p) })
}

// writesGit reports whether a command is git, and changes its repository.
func writesGit(p *analysis.Part) bool {
	return p.Kind == analysis.Runs && p.Reading.Program == "git" && len(p.Reading.Sub) > 0 &&
		programs.GitWrites(p.Reading.Sub[0]) && !p.Reading.Readonly
}

// gitMixed reports whether something besides git runs of which not every effect is known: it
// could leave in a repository what the person's next git obeys.
func gitMixed(s *analysis.Script) bool {
	return slices.ContainsFunc(s.Parts, func(p analysis.Part) bool {
		open := p.Kind == analysis.Runs && !p.Builtin && !p.Alias && (!p.Reading.Known || !p.Reading.Complete)
		return p.Kind == analysis.Unknown || p.Opaque || open && (p.Reading.Program != "git" || len(p.GitRuns) > 0)
	})
}

// keepable are the subcommands of git after which the repository still has what was there
// before: a reflog at least. Undo is about files, not about repositories.
var keepable = []string{
	"add", "am", "apply", "branch", "checkout", "cherry-pick", "clean", "commit", "fetch", "merge", "mv", "pull",
	"push", "rebase", "reset", "restore", "revert", "rm",
	"stash", "switch", "tag",
}

// gitLoses says why a git command is not free only because it is held; empty if it may be.
func gitLoses(p *analysis.Part, act *policy.Act) string {
	if p.Reading.Program != "git" || len(p.Reading.Sub) == 0 || p.Reading.Readonly {
		return ""
	}
	changes := func(e programs.Effect) bool { return e.Kind == programs.Write || e.Kind == programs.Delete }
	if p.Reading.Complete && !slices.ContainsFunc(p.Reading.Effects, changes) {
		return ""
	}
	why := "it changes the repository in a way that undo does not cover"
	if !slices.Contains(keepable, p.Reading.Sub[0]) {
		return why
	}
	for _, text := range presetList[0].Except {
		if pattern, err := policy.CompileCommand(text); err != nil || pattern.Meets(act.Target) == policy.MatchYes {
			return why
		}
	}
	return ""
}
