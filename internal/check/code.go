package check

import (
	"slices"
	"strconv"
	"strings"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell/programs"
)

// An allowed command runs without a question.
type allowed struct {
	words  []string
	source string
	preset string // that it is in
}

// String is how the policy names it.
func (a allowed) String() string {
	if a.preset != "" {
		return "preset " + a.preset
	}
	return strconv.Quote(strings.Join(a.words, " "))
}

// firstOfEach leaves out all but the first command of a preset.
func firstOfEach(commands []allowed) []allowed {
	seen := map[string]bool{}
	return slices.DeleteFunc(commands, func(a allowed) bool {
		again := seen[a.preset]
		seen[a.preset] = a.preset != ""
		return again
	})
}

func (a allowed) reading() programs.Reading {
	var args []programs.Word
	for _, w := range a.words[1:] {
		args = append(args, programs.Literal(w))
	}
	return programs.Interpret(a.words[0], args)
}

// allowedCommands are those that the policy lets run by name.
func allowedCommands(p *config.Policy) []allowed {
	var out []allowed
	add := func(pattern, source, preset string) {
		if c, err := policy.CompileCommand(pattern); err == nil && len(c.Words()) > 0 {
			out = append(out, allowed{c.Words(), source, preset})
		}
	}
	for _, r := range p.Shell.Rules {
		if r.Approval == tool.WordAllow {
			add(r.Pattern, r.Source, r.Preset)
		}
	}
	for _, r := range p.Rules.Rules() {
		if target, ok := strings.CutPrefix(r.Pattern, policy.ActShell+"("); ok && r.Effect == policy.EffectAllow {
			add(strings.TrimSuffix(target, ")"), r.Source, "")
		}
	}
	return out
}

// runsFiles reports whether a command runs code that files decide: a script that it names,
// or what the project makes it run.
func (a allowed) runsFiles() bool {
	return strings.Contains(a.words[0], "/") || a.reading().RunsFiles()
}

// writeThenRun warns where an agent can write a file and have it run, both unasked.
func (l *look) writeThenRun() {
	p := l.policy
	where, source := l.freelyWritten(p)
	if source == "" || p.OS.Require {
		return
	}
	running := slices.DeleteFunc(allowedCommands(p), func(a allowed) bool { return !a.runsFiles() })
	for _, a := range firstOfEach(running) {
		l.warn(a.source, "%s runs files of the project without asking, and %s (%s) may be written without asking: "+
			"what an agent writes there it can run. No question can help with that, the sandbox does: set "+
			"sandbox.require_os_sandbox: true",
			a, where, source)
	}
}

// freelyWritten finds a place that may be written without asking.
func (l *look) freelyWritten(p *config.Policy) (where, source string) {
	for _, r := range l.roots {
		if v, said := r.Approval[roots.AccessWrite]; r.Mode == roots.ModeReadWrite && said && v == policy.VerdictFree {
			return "root " + r.Name, r.Source
		}
	}
	for _, t := range p.Tools.Tools {
		if t.Approval == tool.WordAllow && (t.Name == policy.ActWriteFile || t.Name == "edit_file") {
			return "every root", t.Source
		}
	}
	for _, r := range p.Rules.Rules() {
		if name, target, _ := strings.Cut(r.Pattern, "("); name == policy.ActWriteFile && r.Effect == policy.EffectAllow {
			return strings.TrimSuffix(target, ")"), r.Source
		}
	}
	return "", ""
}

// gitWrites warns of allowed git commands that the sandbox keeps from writing.
func (l *look) gitWrites() {
	var why string
	switch os := l.policy.OS; {
	case !os.GitWrite && os.GitWriteSource != "":
		why = "which no command may (" + os.GitWriteSource + "); leave that line out, or the rule"
	case !slices.ContainsFunc(l.roots, func(r roots.Root) bool { return r.Mode == roots.ModeReadWrite }):
		why = "and no root has mode: rw; leave the rule out"
	default:
		return
	}
	writes := func(a allowed) bool { r := a.reading(); return r.Program == "git" && !r.Complete }
	writing := slices.DeleteFunc(allowedCommands(l.policy), func(a allowed) bool { return !writes(a) })
	for _, a := range firstOfEach(writing) {
		l.warn(a.source, "%s writes to .git, %s", a, why)
	}
}
