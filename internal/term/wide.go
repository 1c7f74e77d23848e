package term

import (
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
)

// interpreters run whatever they are given: to allow one is to allow everything.
var interpreters = []string{
	"ash", "awk", "bash", "bun", "bunx", "busybox", "chroot", "cmd", "command", "csh", "dash", "deno", "doas",
	"docker", "env", "eval", "exec", "expect", "find", "fish", "gawk", "gdb", "ionice", "julia", "ksh", "lua",
	"make", "nice", "node", "nodejs", "nohup", "npx", "nsenter", "osascript", "parallel", "perl", "php",
	"pip", "pip3", "pipx", "podman", "powershell", "pwsh", "python", "python2", "python3", "R", "Rscript", "rsh", "ruby",
	"screen", "script", "sed", "setsid", "sh", "source", "ssh", "stdbuf", "strace", "su", "sudo", "tclsh", "time",
	"timeout", "tmux", "ts-node", "tsx", "unshare", "uv", "uvx", "vi", "vim", "watch", "xargs", "zsh",
}

// wideRules says of each allow that reaches far more than one kind of call why it does.
// A rule that cannot be read is left to the gate, which refuses it.
func wideRules(rules []string) []string {
	var out []string
	for _, text := range rules {
		rule, err := approval.ParseRule(text)
		if err != nil || rule.Effect != approval.Allow {
			continue
		}
		if why := wideRule(rule); why != "" {
			out = append(out, rule.String()+": "+why)
		}
	}
	return out
}

func wideRule(rule approval.Rule) string {
	if rule.Scope == approval.ScopeConnector {
		return "allows every tool of the connector."
	}
	name, target, hasTarget := strings.Cut(strings.TrimSuffix(rule.Pattern, ")"), "(")
	tool := strings.ToLower(name[strings.LastIndexByte(name, ':')+1:])
	if strings.Trim(tool, "*?") == "" {
		return "allows every tool."
	}
	shell, _ := path.Match(tool, approval.Shell)
	switch {
	case shell && !hasTarget:
		return "allows every command."
	case shell:
		return wideCommand(strings.TrimSpace(target))
	case !hasTarget && !strings.Contains(name, ":") && slices.ContainsFunc(approval.BuiltinActs(), named(tool)):
		return "allows it on everything."
	case hasTarget && strings.Trim(target, "*/.? {},") == "", strings.Contains(target, "{**"), strings.Contains(target, ",**"):
		return "allows every target."
	}
	return ""
}

// named reports whether a pattern for tools names a built-in act that changes something.
func named(pattern string) func(act string) bool {
	return func(act string) bool {
		ok, _ := path.Match(pattern, act)
		return ok && act != approval.ReadFile
	}
}

// wideCommand judges the target of a rule for commands. What is exact is as narrow as it
// reads.
func wideCommand(target string) string {
	words := strings.Fields(target)
	switch {
	case len(words) == 0 || strings.ContainsAny(words[0], "*?"):
		return "allows every command."
	case words[0] == "=":
		return ""
	}
	program := path.Base(strings.Trim(words[0], `"'`))
	base := strings.TrimRight(program, "0123456789.")
	if slices.Contains(interpreters, program) || slices.Contains(interpreters, base) {
		return program + " runs whatever it is given, so this allows nearly every command."
	}
	return ""
}
