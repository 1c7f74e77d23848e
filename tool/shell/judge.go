package shell

import (
	"context"
	"fmt"
	"path"
	"time"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell/analysis"
	"github.com/assent-dev/assent/tool/shell/programs"
)

// A judging turns the parts of a script into acts, each with the tool's own
// verdict.
type judging struct {
	*Tool
	ctx    context.Context
	script *analysis.Script
	world  analysis.World
	acts   []policy.Act
	// act has for each part 1 + the index of its act, 0 for none.
	act []int
	// allowed has for each act what config allows it by, so that what follows
	// from the command inside the roots is allowed as well.
	allowed []string
	// spelled has for each act the rule of the config that allows it, nil for none: one that
	// spells enough of a command answers the command's own connections too.
	spelled []*rule
	// once says that a yes is to hold for the session.
	once bool
	// described are the descriptions of rules that matched, for the summary.
	described []string
	places    places
	// sandboxed says that the sandbox alone is enough; notSandboxed why it is not, if config
	// wants it to be.
	sandboxed    bool
	notSandboxed string
	byPreset     bool          // a preset lets code of the project run: secrets keep their own word
	rootAsks     bool          // a root asks before something is done in it, see [AutoAllow]
	widened      bool          // a person let it reach further before
	dirPlace     roots.Place   // that it runs in
	plain        bool          // git is not hardened
	bash         bool          // bash itself runs it
	state        policy.Digest // of what it runs
}

// An inquiry is a command that is to be judged.
type inquiry struct {
	ctx     context.Context
	script  *analysis.Script
	world   analysis.World
	dir     roots.Place
	timeout time.Duration
	keep    bool
	// endOthers ends first what earlier commands left in the background.
	endOthers bool
	now       bool // it is about to happen, with its real values
	plain     bool // git is not hardened for it
	bash      bool // bash itself runs it
}

// command is what would run.
func (in inquiry) command() Command {
	return Command{
		Text: in.script.Text.String(), Bash: in.bash, Dir: in.dir.Key(), Timeout: in.timeout, Keep: in.keep,
		Named: named(in.script), GitWrites: gitWrites(in.script),
		GitMixed: gitMixed(in.script), Connects: connects(in.script),
	}
}

// judgeParts judges one part after another: with sandboxed as if the sandbox alone were enough,
// else because of the reason that it is not.
func (t *Tool) judgeParts(in inquiry, sandboxed bool, notSandboxed string) *judging {
	s := in.script
	j := &judging{
		Tool: t, ctx: in.ctx, script: s, world: in.world, sandboxed: sandboxed, notSandboxed: notSandboxed,
		dirPlace: in.dir, plain: in.plain || t.opts.Run == nil, bash: in.bash,
		act: make([]int, len(s.Parts)), places: places{set: t.roots},
	}
	j.rootAsks = sandboxed && t.opts.Sandbox.AutoAllow().Asks != ""
	j.widened = t.opts.Sandbox != nil && t.opts.Sandbox.Widened(in.command())
	j.places.known = map[string]place{in.dir.Key(): {Place: in.dir, inside: true}}
	for i := range s.Parts {
		j.part(i)
	}
	if s.Odd != "" && len(j.acts) > 0 {
		j.acts[0].PersonOnly = true
		j.acts[0].Verdict = min(j.acts[0].Verdict, policy.VerdictAsk)
		j.acts[0].Why = s.Odd
	}
	return j
}

// part judges one part.
func (j *judging) part(i int) {
	p := &j.script.Parts[i]
	switch p.Kind {
	case analysis.Runs:
		j.command(i)
	case analysis.Touches:
		act := j.sandboxedFile(j.privateFile(j.file(p), p), p)
		act.Cause = j.cause(p)
		j.add(i, j.following(act, p), "")
	case analysis.Connects:
		j.add(i, j.connection(i), "")
	case analysis.Assigns:
		if p.Cause == 0 { // otherwise it is among the words of its command
			j.assignment(i)
		}
	default:
		j.unknown(i)
	}
}

func (j *judging) add(part int, act policy.Act, allowed string) {
	act.Line = j.script.Parts[part].Line
	j.acts = append(j.acts, act)
	j.allowed, j.spelled = append(j.allowed, allowed), append(j.spelled, nil)
	j.act[part] = len(j.acts)
}

// cause returns 1 + the index of the act that the part follows from.
func (j *judging) cause(p *analysis.Part) int {
	if p.Cause == 0 {
		return 0
	}
	return j.act[p.Cause-1]
}

// following lets a file pass that an allowed command touches: an allow covers
// what the command does inside the roots, and nothing that is answered by name.
func (j *judging) following(act policy.Act, p *analysis.Part) policy.Act {
	if act.Cause == 0 || act.Verdict != policy.VerdictAsk || act.ByName || act.Secret || act.PersonOnly ||
		act.Target.Unknown {
		return act
	}
	if by := j.allowed[act.Cause-1]; by != "" {
		act.Verdict, act.Why = policy.VerdictFree, "covered by a command that is "+by
	}
	return act
}

// command judges a program, builtin or function that is started. What a wrapper
// starts has no cause: an allow for the wrapper says nothing about it.
func (j *judging) command(i int) {
	p := &j.script.Parts[i]
	act := j.commandAct(p)
	act.Project = j.project(p)
	w := j.word(i, &act)
	act.Verdict, act.Why = w.verdict, w.why
	if p.Alias {
		act.Verdict, act.Why = policy.VerdictFree, "another name of the command before it"
	}
	if p.OwnCommand {
		act.Verdict, act.Why = policy.VerdictBlock, "only a person can use the commands of assent that answer requests"
	}
	j.denied(&act)
	files := append(j.unseen(i, &act), j.history(i)...)
	if act.Verdict != policy.VerdictFree {
		w.allowed, w.by, act.Code = "", nil, j.code(p)
	}
	j.add(i, act, w.allowed)
	j.spelled[j.act[i]-1] = w.by
	for _, file := range files {
		file.Cause, file.Line = j.act[i], p.Line
		j.acts = append(j.acts, j.following(file, p))
		j.allowed, j.spelled = append(j.allowed, ""), append(j.spelled, nil)
	}
}

func (j *judging) commandAct(p *analysis.Part) policy.Act {
	words, before := j.words(p)
	dir := folderOf(p)
	act := policy.Act{
		Name: policy.ActShell,
		Target: policy.Target{
			Kind: policy.KindWords, Words: words, Flags: p.Reading.Flags, Loose: p.Reading.Program == "" && !p.Builtin,
		},
		Known:  p.Reading.Known,
		Dir:    j.places.name(dir),
		Away:   !j.athome(dir),
		Opaque: len(words) > 0 && words[before].Unknown,
	}
	if p.Reading.Prefix > 0 {
		act.Prefix = p.Reading.Prefix + before
	}
	return act
}

// folderOf returns the folder that a command works in, which a flag may change;
// empty if it is not known.
func folderOf(p *analysis.Part) string {
	to := p.Reading.Dir
	switch {
	case to == programs.Word{} || to.Known && to.Text == "":
		return p.Dir
	case !to.Known || p.Dir == "" && !path.IsAbs(to.Text):
		return ""
	case path.IsAbs(to.Text):
		return path.Clean(to.Text)
	}
	return path.Join(p.Dir, to.Text)
}

// words returns the words of the act: variables that may not be set silently
// stand before those of the command, as they do in the text.
func (j *judging) words(p *analysis.Part) (words []policy.Word, before int) {
	for _, a := range p.Env {
		if j.cfg.mayBeSet(a.Name) {
			continue
		}
		words = append(words, policy.Word{Text: a.Name + "=" + a.Value.Text, Unknown: !a.Value.Known})
	}
	before = len(words)
	for _, w := range p.Words {
		words = append(words, policy.Word{Text: w.Text, Unknown: !w.Known})
	}
	args := words[before:]
	for _, i := range p.Reading.Spelled {
		if i+1 < len(args) {
			args[i+1].Spelled = true
		}
	}
	for _, i := range p.Reading.Plain {
		if i+1 < len(args) {
			args[i+1].Plain = true
		}
	}
	return words, before
}

// denied applies the denies of the config, which hold wherever they stand.
func (j *judging) denied(act *policy.Act) {
	for i := range j.rules {
		r := &j.rules[i]
		if r.Approval != tool.WordDeny {
			continue
		}
		meets := r.pattern.Meets(act.Target)
		if act.Opaque {
			meets = max(meets, policy.MatchPossibly)
		}
		switch meets {
		case policy.MatchYes:
			act.Verdict, act.Why = policy.VerdictBlock, r.denial()
			return
		case policy.MatchPossibly:
			act.Verdict, act.PersonOnly = min(act.Verdict, policy.VerdictAsk), true
			act.Why = fmt.Sprintf("it may do what %s denies: %s", sourceOr(r.Source), r.Pattern)
		}
	}
}

func (r *Rule) denial() string {
	reason := r.Reason
	if reason == "" {
		reason = "blocked by policy"
	}
	return fmt.Sprintf("%s: %s denies %q", reason, sourceOr(r.Source), r.Pattern)
}

// assignment judges a variable that is set for all that follows.
func (j *judging) assignment(i int) {
	p := &j.script.Parts[i]
	act := policy.Act{
		Name:   policy.ActShell,
		Target: policy.Target{Kind: policy.KindWords, Words: []policy.Word{{Text: p.Variable + "=…", Unknown: true}}},
		Known:  true, Dir: j.places.name(p.Dir), Away: !j.athome(p.Dir),
		Verdict: policy.VerdictAsk, Why: "it sets " + p.Variable + ", which programs obey",
	}
	if j.cfg.mayBeSet(p.Variable) {
		act.Verdict, act.Why = policy.VerdictFree, p.Variable+" may be set"
	} else if j.sandboxed {
		act.Verdict, act.Why = policy.VerdictFree, j.sandboxedWord().why
	}
	j.add(i, act, "")
}

// unknown judges what cannot be told. Code that cannot be read may be anything
// that is denied.
func (j *judging) unknown(i int) {
	p := &j.script.Parts[i]
	act := policy.Act{
		Name:   policy.ActShell,
		Target: policy.Target{Kind: policy.KindWords, Words: []policy.Word{{Text: p.Source, Unknown: true}}},
		Opaque: true, Dir: j.places.name(p.Dir), Away: true,
		Verdict: policy.VerdictAsk, Why: p.Why,
	}
	if j.sandboxed {
		act.Verdict, act.Why = policy.VerdictFree, j.sandboxedWord().why
	}
	j.denied(&act)
	j.add(i, act, "")
}

// spelledPaths returns what may be a path among the words of a program that is
// not in the table: every operand, and every value of a flag.
func spelledPaths(words []programs.Word) (paths []programs.Word) {
	for _, w := range words {
		paths = append(paths, pathsIn(w)...)
	}
	return paths
}
