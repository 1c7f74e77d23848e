package words

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/shell/programs"
)

// Cursor reads an entry of permissions.allow or permissions.deny in cli-config.json or cli.json.
func Cursor(effect policy.Effect, text string, at Place) Reading {
	m := entry().FindStringSubmatch(strings.TrimSpace(text))
	if m == nil || m[2] == "" {
		return missing("it is not of the form Shell(…), Read(…), Write(…), WebFetch(…) or Mcp(…)")
	}
	inner := strings.TrimSpace(m[2])
	switch m[1] {
	case "Shell":
		return cursorShell(effect, inner)
	case "Read":
		return globs(effect, []string{policy.ActReadFile}, inner, at)
	case "Write":
		acts := []string{policy.ActWriteFile}
		if effect == policy.EffectDeny {
			acts = append(acts, policy.ActDeleteFile)
		}
		return globs(effect, acts, inner, at)
	case "WebFetch":
		return web(effect, inner)
	case "Mcp":
		return Mcp(effect, inner)
	}
	return missing("assent does not know this kind of entry")
}

// Mcp reads SERVER:TOOL as Cursor writes it, with a comma in older files.
func Mcp(effect policy.Effect, text string) Reading {
	server, tool, ok := strings.Cut(text, ":")
	if !ok {
		server, tool, ok = strings.Cut(text, ",")
	}
	server, tool = strings.TrimSpace(server), strings.TrimSpace(tool)
	switch {
	case server == "" || strings.Contains(server, "*"):
		return missing("it names servers by a pattern; name each server")
	case strings.ContainsAny(server+tool, "?[]{}()"):
		return missing("a rule would take ?, [], {} or () in it for a pattern; name the server and the tool")
	case effect == policy.EffectDeny && (!ok || tool == "*"):
		return rules(effect, "connector "+server)
	case !ok || tool == "*":
		return rules(effect, server+":*")
	}
	return rules(effect, server+":"+tool)
}

// cursorShell reads COMMAND or COMMAND:ARGUMENTS. The command is the first word of the command line.
func cursorShell(effect policy.Effect, text string) Reading {
	base, args, has := strings.Cut(text, ":")
	base, args = strings.TrimSpace(base), strings.TrimSpace(args)
	switch {
	case base == "*" || base == "**":
		if has && strings.Trim(args, "*") != "" {
			return missing("a rule names the program before its arguments")
		}
		return rules(effect, "shell(*)")
	case strings.ContainsAny(base, "*?["):
		return missing("it names programs by a pattern; name each program")
	case strings.Contains(base, " ") && effect == policy.EffectAllow:
		return missing("Cursor compares the first word alone, so this allows nothing there")
	case !has || strings.Trim(args, "*") == "":
		return Text(effect, base)
	case !strings.ContainsAny(args, "*?[") && effect == policy.EffectDeny:
		return Text(effect, base+" "+args) // whether more words may follow is not said
	}
	return command(effect, base+" "+args)
}

// Opencode reads an action in the permission object of opencode.json: for a tool, and a pattern of what it is
// used on, * for all of it.
func Opencode(effect policy.Effect, tool, pattern string, at Place) Reading {
	switch tool {
	case "bash":
		return command(effect, pattern)
	case "read", "list":
		return spanning(effect, []string{policy.ActReadFile}, pattern, at)
	case "edit", "write", "patch":
		acts := []string{policy.ActWriteFile}
		if effect == policy.EffectDeny {
			acts = append(acts, policy.ActDeleteFile)
		}
		return spanning(effect, acts, pattern, at)
	case "webfetch":
		if pattern == "*" {
			return web(effect, "*")
		}
		return missing("assent does not know how it compares addresses; write allow http_request(GET https://HOST/**)")
	case "glob", "grep":
		if pattern == "*" {
			return rules(effect, map[string]string{"glob": "list_files", "grep": "search_files"}[tool])
		}
	case "*":
		if effect == policy.EffectAllow && pattern == "*" {
			return rules(effect, "*")
		}
	}
	return missing("assent has no rule for " + tool + " of opencode")
}

// words that people use for tools of ours, alone or with something in parentheses.
var foreign = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(Bash|Read|Edit|Write|MultiEdit|NotebookEdit|NotebookRead|Glob|Grep|LS|WebFetch|WebSearch)(\(|$)`)
})

// Rule reads a rule as a person types it: "allow Bash(git push:*)", "deny mcp__github__create_issue", or
// "allow git status". The reading is empty if the text is a rule of ours already, or means nothing here.
func Rule(text string, home string) Reading {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	effect := policy.Effect(strings.ToLower(word))
	rest = strings.TrimSpace(rest)
	at := Place{Home: home, Project: true, Typed: true}
	switch effect {
	case policy.EffectAllow, policy.EffectDeny:
	case "ask":
		if foreign().MatchString(rest) || strings.HasPrefix(rest, "mcp__") {
			return missing("there are no rules that ask: what no rule allows is asked anyway")
		}
		return Reading{}
	default:
		return Reading{}
	}
	switch {
	case foreign().MatchString(rest), strings.HasPrefix(rest, "mcp__"):
		return Claude(effect, rest, at)
	case strings.HasPrefix(rest, "Mcp(") && strings.HasSuffix(rest, ")"):
		return Mcp(effect, rest[len("Mcp("):len(rest)-1])
	case strings.HasPrefix(rest, "run_shell_command(") && strings.HasSuffix(rest, ")"):
		return Text(effect, rest[len("run_shell_command("):len(rest)-1])
	case strings.ContainsAny(rest, " \t") && isCommand(rest):
		return command(effect, bareCommand(rest))
	}
	return Reading{}
}

// Refuse is why a rule in the words of another agent is not taken where nobody would see how it is read, with the
// spelling that works; nil for a rule of ours.
func Refuse(text string) error {
	r := Rule(text, "~")
	var write []string
	for _, rule := range r.Rules {
		write = append(write, rule.String())
	}
	switch {
	case len(write) > 0:
		return fmt.Errorf("%q is how another agent says it; write %s", text, strings.Join(write, " and "))
	case r.Missing != "":
		return fmt.Errorf("%q is how another agent says it, and no rule can: %s", text, r.Missing)
	}
	return nil
}

// bareCommand has the words of a command stand for what begins with them, as in shell(git status).
func bareCommand(text string) string {
	if strings.HasSuffix(text, "*") {
		return text
	}
	return text + ":*"
}

// isCommand reports whether a text begins with a program that assent describes. Of another word nobody knows
// whether it is one.
func isCommand(text string) bool {
	return programs.Interpret(strings.Fields(text)[0], nil).Program != ""
}
