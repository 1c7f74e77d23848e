package words

import (
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/shell/programs"
)

// A Reading is what an entry of another agent's list means in rules.
type Reading struct {
	// Rules say it; none if no rule can.
	Rules []policy.Rule
	// Inner are further rules that an allow needs if its command starts another program: npx tsc is allowed
	// only if tsc is. They allow that program by itself, too, so that they are more than the entry says.
	Inner []policy.Rule
	// Differs is how the rules differ from the entry: an allow that covers less, or a deny that covers more.
	Differs string
	// Missing is what no rule says, and why. It is empty if the rules say everything.
	Missing string
}

// A Place is where an entry was written.
type Place struct {
	// Home is the home folder of the user, "" if it is not known.
	Home string
	// Project says that the entry is in a list of one project.
	Project bool
	// Typed says that a person typed it. What it means to them counts, even if Claude Code would not apply it.
	Typed bool
}

// entry is the form NAME or NAME(TEXT).
var entry = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)^([A-Za-z][A-Za-z0-9_*-]*)(?:\((.*)\))?$`) })

// Claude reads an entry of permissions.allow or permissions.deny in the settings of Claude Code.
func Claude(effect policy.Effect, text string, at Place) Reading {
	m := entry().FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return missing("it is neither TOOL nor TOOL(TEXT)")
	}
	name, inner, bare := m[1], strings.Trim(m[2], " \t\r\n"), !strings.Contains(text, "(")
	if bare {
		inner = "*"
	}
	switch name {
	case "Bash":
		return command(effect, inner)
	case "Read", "NotebookRead":
		return files(effect, []string{policy.ActReadFile}, inner, at)
	case "Grep", "Glob", "LS":
		if inner != "*" {
			if effect == policy.EffectAllow {
				return missing("Claude Code does not apply a path of " + name + "; write Read(PATH)")
			}
			return files(effect, []string{policy.ActReadFile}, inner, at)
		}
		return rules(effect, map[string]string{"Grep": "search_files", "Glob": "list_files", "LS": "list_files"}[name])
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		if effect == policy.EffectAllow && name != "Edit" && inner != "*" && !at.Typed {
			return missing("Claude Code does not apply a path of " + name + "; write Edit(PATH)")
		}
		acts := []string{policy.ActWriteFile}
		if effect == policy.EffectDeny {
			acts = append(acts, policy.ActDeleteFile) // its own deny is for rm and mv too
		}
		return files(effect, acts, inner, at)
	case "WebFetch":
		if inner == "*" {
			return web(effect, inner)
		}
		domain, ok := strings.CutPrefix(inner, "domain:")
		if !ok {
			return missing("assent knows WebFetch(domain:HOST) alone")
		}
		return web(effect, domain)
	}
	if server, ok := strings.CutPrefix(name, "mcp__"); ok {
		if !bare {
			return missing("rules about the tools of a server take no text in Claude Code's form; write SERVER:TOOL(TEXT)")
		}
		return ofServer(effect, server)
	}
	if strings.Contains(name, "*") {
		return missing("it names tools by a pattern; name each tool")
	}
	if inner != "*" {
		return missing("assent has no rules for one kind of " + name)
	}
	return rules(effect, "claude-code:"+name)
}

// ofServer reads what follows mcp__: SERVER, SERVER__* or SERVER__TOOL. A server or a tool may have __ in its name.
func ofServer(effect policy.Effect, name string) Reading {
	server, tool, named := strings.Cut(name, "__")
	if server == "" || strings.Contains(server, "*") {
		return missing("it names servers by a pattern; name each server")
	}
	if !named || tool == "*" {
		if effect == policy.EffectDeny {
			return rules(effect, "connector "+server)
		}
		return rules(effect, server+":*")
	}
	var patterns []string
	for i := 1; i+2 < len(name); i++ {
		if name[i:i+2] == "__" {
			patterns = append(patterns, name[:i]+":"+name[i+2:])
		}
	}
	switch {
	case len(patterns) == 0:
		return missing("it names no tool; write mcp__SERVER__TOOL")
	case len(patterns) > 1 && effect == policy.EffectAllow:
		return missing("it can be read as " + strings.Join(patterns, " or ") + "; write the one that you mean")
	}
	return rules(effect, patterns...)
}

// web reads a host that is fetched from, * for any.
func web(effect policy.Effect, host string) Reading {
	switch {
	case host == "*" && effect == policy.EffectAllow:
		return rules(effect, "http_request(GET *)")
	case host == "*":
		return rules(effect, policy.ActHTTPRequest)
	case effect == policy.EffectAllow:
		return rules(effect, "http_request(GET https://"+host+"/**)")
	}
	return rules(effect, "http_request(*://"+host+"/**)")
}

// parameter is the form of an entry about an argument of the tool other than the command.
var parameter = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(command|description|timeout|run_in_background|dangerouslyDisableSandbox)\s*:`)
})

// command reads the text of an entry for commands, as Claude Code and opencode compare it: words before :*
// or a last " *" are a prefix, another * is any text, and without one it is the whole command.
func command(effect policy.Effect, text string) Reading {
	text, plain := spaced(text)
	if !plain {
		return missing(lost)
	}
	if text == "*" || text == "**" {
		return rules(effect, "shell(*)")
	}
	base, prefix := strings.CutSuffix(text, ":*")
	if !prefix {
		base, prefix = strings.CutSuffix(text, " *")
	}
	partial := false
	if !prefix {
		if parameter().MatchString(text) {
			return missing("rules are about the command of a call, not about its other arguments")
		}
		base, partial = strings.CutSuffix(text, "*")
	}
	switch {
	case base == "":
		return missing("it names no command")
	case strings.ContainsAny(base, "\\?"):
		return missing(`rules have no \ and no ? in a command`)
	case strings.Contains(base, "*"):
		return between(effect, base)
	case !prefix && !partial:
		return commandRule(effect, "= "+base)
	case prefix:
		return commandRule(effect, base+anyWords(effect, base))
	}
	last := base[len(base)-1]
	if !('a' <= last|0x20 && last|0x20 <= 'z' || '0' <= last && last <= '9') {
		return missing("a rule names whole words, and this ends inside of one")
	}
	r := commandRule(effect, base+anyWords(effect, base))
	word := base[strings.LastIndexByte(base, ' ')+1:]
	differs := "words that only begin with " + word + " are not covered: a rule names whole words"
	if effect == policy.EffectDeny && r.Missing == "" {
		r.Missing = differs
	} else {
		r.Differs = differs
	}
	return r
}

const lost = "it has line breaks, unusual white space, or spaces in quotes that would be lost; write a rule for each command"

// spaced has one space between words. A line break is the end of a command, and spaces in quotes are part of a
// word, as other white space than that of a shell is: a text in which such would be lost means something else, and is
// not plain.
func spaced(text string) (out string, plain bool) {
	lost := func(r rune) bool { return unicode.IsControl(r) || r != ' ' && unicode.IsSpace(r) }
	text = strings.Trim(text, " \t\r\n")
	out = strings.Join(strings.Fields(text), " ")
	return out, !strings.ContainsFunc(text, lost) && (out == text || !strings.ContainsAny(text, "\"'\\"))
}

// anyWords is what an allow needs behind the words of a program that assent does not describe: without it
// the rule is for exactly these words.
func anyWords(effect policy.Effect, base string) string {
	name := path.Base(strings.Trim(strings.Fields(base)[0], `"'`))
	if effect == policy.EffectAllow && programs.Interpret(name, nil).Program == "" {
		return " *"
	}
	return ""
}

// between reads a * that is not at the end. A rule cannot say it, but flags hold wherever they stand.
func between(effect policy.Effect, base string) Reading {
	head, tail, _ := strings.Cut(base, "*")
	head = strings.TrimSpace(head)
	flags := strings.Fields(tail)
	for _, f := range flags {
		if len(f) < 2 || f[0] != '-' || strings.Contains(f, "*") {
			flags = nil
		}
	}
	if effect == policy.EffectDeny && head != "" && len(flags) > 0 && strings.HasPrefix(tail, " ") {
		r := commandRule(effect, head+" "+strings.Join(flags, " "))
		r.Differs = "the flags are meant wherever they stand"
		return r
	}
	why := "a rule has a * at the end of a command only"
	if effect == policy.EffectDeny && head != "" {
		why += "; the next wider one is deny shell(" + head + ")"
	}
	return missing(why)
}

func commandRule(effect policy.Effect, target string) Reading {
	r := rules(effect, "shell("+target+")")
	if effect == policy.EffectAllow && r.Missing == "" {
		r.Inner = inner(target)
	}
	if r.Missing != "" && strings.ContainsAny(target, ";|&<>()$`") {
		return missing("it is more than one command, or has parts that the shell fills in; write a rule for each command")
	}
	return r
}

// Prefix reads an entry that gives the words with which a command begins, one alternative or more at each place.
func Prefix(effect policy.Effect, places ...[]string) Reading {
	targets := []string{""}
	for _, alternatives := range places {
		var next []string
		for _, t := range targets {
			for _, word := range alternatives {
				next = append(next, strings.TrimSpace(t+" "+quoted(word)))
			}
		}
		if targets = next; len(targets) > 50 {
			return missing("it stands for more than 50 commands")
		}
	}
	out := Reading{}
	for _, t := range targets {
		if t == "" {
			return missing("it names no command")
		}
		r := commandRule(effect, t+anyWords(effect, t))
		if r.Missing != "" {
			return r
		}
		out.Rules, out.Inner = append(out.Rules, r.Rules...), append(out.Inner, r.Inner...)
	}
	return out
}

// inner are the rules for what a command starts, as far as its words tell.
func inner(target string) (out []policy.Rule) {
	target, exact := strings.CutPrefix(target, "= ")
	var all []programs.Word
	for _, w := range strings.Fields(strings.TrimSuffix(target, " *")) {
		all = append(all, programs.Literal(strings.Trim(w, `"'`)))
	}
	for _, run := range programs.Interpret(path.Base(all[0].Text), all[1:]).Runs {
		var texts []string
		for _, w := range run.Words {
			if !w.Known {
				return nil
			}
			texts = append(texts, quoted(w.Text))
		}
		if len(texts) == 0 {
			return nil
		}
		pattern := strings.Join(texts, " ")
		if exact {
			pattern = "= " + pattern
		} else {
			pattern += anyWords(policy.EffectAllow, pattern)
		}
		out = append(out, rules(policy.EffectAllow, "shell("+pattern+")").Rules...)
	}
	return out
}

// Text reads the words with which a command begins, as they are typed.
func Text(effect policy.Effect, text string) Reading {
	text, plain := spaced(text)
	switch {
	case text == "":
		return missing("it names no command")
	case !plain:
		return missing(lost)
	}
	return commandRule(effect, text+anyWords(effect, text))
}

func quoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\;|&<>()$`*=") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// rules makes rules of patterns. One that cannot be read is missing.
func rules(effect policy.Effect, patterns ...string) (r Reading) {
	for _, p := range patterns {
		rule, err := policy.ParseRule(string(effect) + " " + p)
		if err != nil {
			return missing(err.Error())
		}
		r.Rules = append(r.Rules, rule)
	}
	return r
}

func missing(why string) Reading { return Reading{Missing: why} }
