package rulebook

import (
	"os"
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/realpath"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/shell/programs"
)

// runners can be made to run anything, though the table of programs does not count them
// among the interpreters and wrappers, or does not have them.
var runners = []string{
	".", "bun", "bunx", "chroot", "cmd", "command", "csh", "docker", "eval", "exec", "expect", "find", "fish", "make",
	"osascript", "pip", "pip3", "pipx", "podman", "powershell", "pwsh", "screen", "sed", "source", "tclsh", "tcsh",
	"tmux", "uv", "uvx", "vi", "vim",
}

// remote programs hand all their words to a shell elsewhere, however many are given.
var remote = []string{"rsh", "ssh"}

// Wide says why an allow reaches far more than one kind of call: as far as every command,
// every tool or every target. It is empty for a rule that does not, and for a deny.
func Wide(rule policy.Rule) string {
	if rule.Effect != policy.EffectAllow {
		return ""
	}
	if rule.Scope == policy.ScopeConnector {
		return "it allows every tool of the connector"
	}
	connector, name, target, hasTarget := split(rule.Pattern)
	name = strings.ToLower(name)
	if strings.Trim(name, "*?") == "" {
		return "it allows every tool"
	}
	shell, _ := path.Match(name, policy.ActShell)
	switch {
	case shell && connector == "" && !hasTarget:
		return "it allows every command"
	case shell && connector == "":
		return wideCommand(strings.TrimSpace(target))
	case !hasTarget && connector == "" && slices.ContainsFunc(slices.Concat(policy.BuiltinActs(), changers), changing(name)):
		return "it allows this for every target"
	case hasTarget && wideTarget(target):
		return "it allows every target"
	case hasTarget && connector == "" && wideFolder(rule, name):
		return "it allows changes to all of your home folder or of /etc, where shells and the system run what they find"
	case hasTarget && connector == "" && name == policy.ActHTTPRequest && wideHost(requestHost(target)):
		return "it allows requests to every host, or to all below a top-level domain"
	case hasTarget && connector == "" && name == policy.ActConnect && wideHost(target):
		return "it allows every host, or all below a top-level domain"
	}
	return ""
}

// changers are the built-in tools that change files and whose names are not acts.
var changers = []string{"copy_file", "edit_file", "make_dir", "move_file"}

// changing reports whether a pattern for tools names a built-in act that does more than
// read.
func changing(pattern string) func(act string) bool {
	return func(act string) bool {
		ok, _ := path.Match(pattern, act)
		return ok && act != policy.ActReadFile
	}
}

func wideTarget(target string) bool {
	return strings.Trim(target, "*/.? {},") == "" || strings.Contains(target, "{**") || strings.Contains(target, ",**")
}

// wideFolder reports whether a rule for something that changes files covers any file of a home folder or of /etc. One
// that names a file is as narrow as it reads.
func wideFolder(rule policy.Rule, name string) bool {
	const unnamed = ".a file that nobody names" // as most that are run there, it begins with a dot
	files := []string{path.Join("/etc", unnamed)}
	if home, err := os.UserHomeDir(); err == nil {
		files = append(files, path.Join(home, unnamed))
		if real, err := realpath.Resolve(home); err == nil && real != home {
			files = append(files, path.Join(real, unnamed))
		}
	}
	for _, act := range slices.Concat([]string{policy.ActWriteFile, policy.ActDeleteFile}, changers) {
		covers := func(file string) bool {
			e := example{call: policy.Call{Tool: act}, act: policy.Act{Name: act, Target: policy.PathTarget(file), Verdict: policy.VerdictAsk}}
			return e.decided(rule)
		}
		if changing(name)(act) && slices.ContainsFunc(files, covers) {
			return true
		}
	}
	return false
}

// requestHost is the host in the target of a request, [METHOD] scheme://host/path.
func requestHost(target string) string {
	_, address, ok := strings.Cut(target, " ")
	if !ok {
		address = target
	}
	if _, rest, ok := strings.Cut(address, "://"); ok {
		address = rest
	}
	host, _, _ := strings.Cut(address, "/")
	return host
}

// wideHost reports whether the target of a connection names no domain that somebody owns.
func wideHost(target string) bool {
	host, _, _ := strings.Cut(target, ":")
	below, wild := strings.CutPrefix(host, "*")
	return wild && !strings.Contains(strings.TrimPrefix(below, "."), ".")
}

// wideCommand judges the target of a rule for commands. What is exact is as narrow as it
// reads.
func wideCommand(target string) string {
	words := strings.Fields(target)
	for len(words) > 0 && assignment(words[0]) {
		words = words[1:]
	}
	switch {
	case len(words) == 0 || strings.ContainsAny(words[0], "*?["):
		return "it allows every command"
	case words[0] == "=":
		return ""
	}
	if RunsAnything(words...) {
		return unquoted(words[0]) + " runs whatever it is given, so this allows nearly every command"
	}
	if len(words) > 1 && words[len(words)-1] == "*" &&
		programs.Interpret(path.Base(unquoted(words[0])), nil).Program == "" {
		return "what " + unquoted(words[0]) + " does with its words is not known, so this allows whatever it can do"
	}
	return ""
}

// Connects says what an allow of a command means for the connections of that command; empty if
// it says nothing about them.
func Connects(rule policy.Rule) string {
	_, name, target, hasTarget := split(rule.Pattern)
	if rule.Effect != policy.EffectAllow || rule.Scope != policy.ScopeTool || !strings.EqualFold(name, policy.ActShell) ||
		!hasTarget {
		return ""
	}
	target, exact := strings.CutPrefix(strings.TrimSpace(target), "= ")
	words := strings.Fields(strings.TrimSuffix(target, " *"))
	for len(words) > 0 && assignment(words[0]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	var all []programs.Word
	for _, w := range words {
		all = append(all, programs.Literal(unquoted(w)))
	}
	reading := programs.Interpret(path.Base(all[0].Text), all[1:])
	for _, e := range reading.Effects {
		if e.Kind == programs.Connect && !e.ByFlag && (exact || reading.OwnWords(all, e.Arg+1, false) <= len(all)) {
			return "it includes the connections of " + strings.Join(words, " ") +
				", to hosts that its settings name or that it finds by itself, unless they are denied; where the " +
				"sandbox judges connections by name, each host keeps its own answer"
		}
	}
	return ""
}

func assignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/-\"'")
}

// RunsAnything reports whether a command that begins with these words runs what it is
// given: an interpreter, a wrapper, or a program that can be made to.
func RunsAnything(words ...string) bool {
	if len(words) == 0 {
		return true
	}
	name := path.Base(unquoted(words[0]))
	var args []programs.Word
	for _, w := range words[1:] {
		args = append(args, programs.Literal(unquoted(w)))
	}
	for _, spelled := range []string{name, strings.TrimRight(name, "0123456789.")} {
		reading := programs.Interpret(spelled, args)
		switch known := reading.Program != ""; {
		case known && (reading.Prefix == 0 || len(reading.Runs) > 0 || reading.Opaque != ""):
			return true
		case slices.Contains(remote, spelled), slices.Contains(runners, spelled) && reading.Prefix < 2:
			return true
		}
	}
	return false
}

func unquoted(word string) string { return strings.Trim(word, `"'`) }

// split takes a pattern for tools apart, as rules are read.
func split(pattern string) (connector, name, target string, hasTarget bool) {
	name = pattern
	if open := strings.IndexByte(pattern, '('); open > 0 && strings.HasSuffix(pattern, ")") {
		name, target, hasTarget = pattern[:open], pattern[open+1:len(pattern)-1], true
	}
	if before, after, ok := strings.Cut(name, ":"); ok {
		connector, name = before, after
	}
	return connector, name, target, hasTarget
}
