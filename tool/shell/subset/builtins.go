package subset

import (
	"slices"
	"strings"
)

// evaluated are variables whose value the shell runs, or that change how it reads.
var evaluated = []string{"PS4", "PROMPT4", "POSIXLY_CORRECT", "BASH_COMPAT", "SHELLOPTS", "BASHOPTS"}

// tied are variables that mean something to zsh alone.
var tied = strings.Fields(`path cdpath fpath manpath mailpath module_path argv fignore psvar watch status pipestatus
	functions dis_functions aliases dis_aliases galiases saliases builtins dis_builtins commands options parameters
	modules dirstack history historywords nameddirs userdirs usergroups jobtexts jobdirs jobstates reswords patchars
	functrace funcstack NULLCMD READNULLCMD KEYBOARD_HACK`)

// settable refuses to assign to some variables.
func (r *reader) settable(name string) {
	if slices.Contains(evaluated, name) {
		r.outside("the variable %s", name)
	}
	if r.shell == Zsh && slices.Contains(tied, name) {
		r.outside("the variable %s of zsh", name)
	}
}

// special are commands of a shell that change how it reads what follows, read text as commands
// in ways of their own, or take words that other commands cannot have.
var special = strings.Fields(`alias unalias let declare typeset local nameref enable disable bind complete compgen
	compopt fc history coproc function select chdir`)

// ofZsh are more of them, in zsh.
var ofZsh = strings.Fields(`integer float private functions autoload zmodload setopt unsetopt emulate noglob nocorrect
	sched zle bindkey zcompile zstyle zformat zparseopts zregexparse vared print pushln rehash unhash unfunction
	compctl limit unlimit r repeat foreach end zsystem`)

// checked looks at a simple command that was read.
func (r *reader) checked(place int) {
	c := r.out[place]
	switch {
	case len(c.Words) > 0:
		r.builtin(c.Words, place)
	case len(c.Assigns) == 0 && len(c.Redirs) == 0:
		r.outside("nothing where a command is needed")
	case r.shell == Zsh && len(c.Redirs) > 0:
		r.outside("a redirection without a command, for which zsh starts a program")
	}
}

// builtin looks at the words of a command.
func (r *reader) builtin(words []Word, place int) {
	first := words[0]
	if !first.Known {
		r.second(words)
		return
	}
	name, args := first.Text, words[1:]
	switch {
	case slices.Contains(special, name), r.shell == Zsh && slices.Contains(ofZsh, name):
		r.outside("the command %s", name)
	case name == "" || name[0] == '%':
		r.outside("a command without a name")
	}
	switch name {
	case "command", "builtin", "exec":
		for _, word := range args {
			if !word.Known && name != "exec" || isSpecial(word.Text) {
				r.outside("%s %s", name, word.Raw)
			}
			if !strings.HasPrefix(word.Text, "-") {
				break
			}
		}
	case "eval":
		if len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
			r.outside("eval %s", args[0].Raw)
		}
		r.nested("eval", args, place)
	case "trap":
		if len(args) > 0 && args[0].Known && args[0].Text == "--" {
			args = args[1:]
		}
		if len(args) > 1 && !(args[0].Known && (args[0].Text == "-" || args[0].Text == "")) {
			r.nested("trap", args[:1], place)
		}
	case "cd":
		if r.shell == Zsh && len(args) > 1 && !strings.HasPrefix(args[0].Text, "-") {
			r.outside("cd with two folders, the change of a name in zsh")
		}
	case "export", "readonly":
		r.exports(first, args)
	case "set":
		r.options(args)
		r.splits("1", args...)
	case "shopt":
		for _, word := range args {
			if !word.Known || !slices.Contains(shoptWords, word.Text) {
				r.outside("shopt %s", word.Raw)
			}
		}
	case "hash":
		if len(args) > 0 && !(len(args) == 1 && args[0].Known && args[0].Text == "-r") {
			r.outside("hash with a name")
		}
	case "jobs", "mapfile", "readarray":
		for _, word := range args {
			if !word.Known || strings.HasPrefix(word.Text, "-") && strings.ContainsAny(word.Text, "xC") {
				r.outside("%s %s", name, word.Raw)
			}
		}
	case "read", "getopts", "unset", "printf", "wait":
		r.names(name, args)
	}
	if slices.Contains(counting, name) {
		r.number = true
	}
}

// counting are builtins that take some of their words for numbers or names, of which one shell
// or another computes the subscript.
var counting = strings.Fields("read getopts unset printf wait test [ exit return break continue shift")

// splits notes that a variable has a value which bash and dash split into words or take for a
// glob where it is not quoted, and zsh does not.
func (r *reader) splits(name string, values ...Word) {
	for _, value := range values {
		if r.shell == Zsh && value.Known && strings.ContainsAny(value.Text, " \t\n*?[") {
			r.split[name] = true
		}
	}
}

// noSplit refuses to use such a variable without quotes.
func (r *reader) noSplit() {
	for name := range r.split {
		if r.bare[name] {
			r.outside("an unquoted $%s, which zsh does not split", name)
		}
	}
}

// noCode refuses literal text with code in brackets where it may become a value, since it runs
// when that value is used as a number. It is only looked for where something is.
func (r *reader) noCode() {
	code := func(text string) bool {
		_, after, _ := strings.Cut(text, "[")
		return strings.Contains(after, "$(") || strings.Contains(after, "`")
	}
	literal := func(word Word) bool {
		return code(strings.ReplaceAll(strings.ReplaceAll(word.Shape, "$()", ""), `\`, ""))
	}
	for _, c := range r.out {
		first := ""
		if len(c.Words) > 0 {
			first = c.Words[0].Text
		}
		value := r.functions || strings.HasSuffix(c.Before, " in") || strings.HasSuffix(c.Before, "[[") ||
			slices.Contains(counting, first) || slices.Contains(checkedNames, first)
		if value && slices.ContainsFunc(c.Words, literal) ||
			slices.ContainsFunc(c.Assigns, func(a Assign) bool { return literal(a.Value) }) ||
			slices.ContainsFunc(c.Redirs, func(redir Redirect) bool {
				return literal(redir.Target) || (value || strings.HasSuffix(c.Before, "$(")) && code(redir.Body)
			}) {
			panic(&Outside{Construct: "code in brackets, and a number that may be that", Line: c.Line})
		}
	}
}

// second looks at the word behind expansions, which is the first one if they are empty.
func (r *reader) second(words []Word) {
	for _, word := range words {
		if word.Known {
			if isSpecial(word.Text) {
				r.outside("%s after an expansion that may be empty", word.Text)
			}
			return
		}
	}
}

// isSpecial reports whether one of the shells has a builtin of this name that is looked at.
func isSpecial(name string) bool {
	return slices.Contains(checkedNames, name) || slices.Contains(special, name) || slices.Contains(ofZsh, name)
}

// What shopt and set -o may be given.
var (
	shoptWords = strings.Fields("-s -u -q nullglob globstar dotglob failglob nocaseglob inherit_errexit lastpipe")
	setNames   = strings.Fields("errexit nounset xtrace pipefail allexport noclobber")
)

// checkedNames are the builtins that builtin looks at.
var checkedNames = strings.Fields("eval trap export readonly set shopt hash jobs mapfile readarray read getopts " +
	"unset command builtin exec")

// nested reads the text that eval or trap is given.
func (r *reader) nested(name string, args []Word, place int) {
	var texts []string
	for _, word := range args {
		if !word.Known {
			r.outside("%s of text that is not literal", name)
		}
		texts = append(texts, word.Text)
	}
	text := strings.Join(texts, " ")
	if strings.Trim(text, " \t\n") == "" {
		return
	}
	inner := newReader(text, r.shell, r.out[place].Line)
	inner.depth, inner.inside, inner.before = r.depth+1, r.inside, []string{name}
	inner.split, inner.bare = r.split, r.bare
	inner.gate()
	if end := inner.list(); end != "" {
		r.outside("an unexpected %s", end)
	}
	inner.finish()
	r.out = append(r.out, inner.out...)
	r.number, r.functions = r.number || inner.number, r.functions || inner.functions
	r.before = append(inner.before, "end")
}

// exports looks at the words of export and readonly, which are assignments to some shells and
// words to others.
func (r *reader) exports(first Word, args []Word) {
	if first.Raw != first.Text {
		r.outside("a quoted %s", first.Text)
	}
	for _, word := range args {
		name, value, assigned := strings.Cut(word.Raw, "=")
		if strings.HasPrefix(name, "-") && word.Known && !assigned {
			continue
		}
		name = strings.TrimSuffix(name, "+")
		if name == "" || strings.Trim(name, nameBytes) != "" || !isName(name[0]) {
			r.outside("%s of something else than a plain name", first.Text)
		}
		r.settable(name)
		if !assigned || word.Known && r.shell != Zsh || value == "" {
			continue
		}
		switch {
		case !word.Known && strings.ContainsAny(strings.ReplaceAll(value, "${", ""), "{*?["):
			r.outside("%s with a glob or braces", first.Text)
		case r.shell == Zsh && (value[0] == '=' || strings.Contains(value, ":=")):
			r.outside("a = that zsh may expand")
		case r.shell == Dash && value[0] != '"':
			r.outside("%s with an unquoted expansion", first.Text)
		}
	}
}

// options looks at the words of set.
func (r *reader) options(args []Word) {
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case !word.Known:
			r.outside("set of options that are not literal")
		case word.Text == "--":
			return
		case strings.HasPrefix(word.Text, "-") || strings.HasPrefix(word.Text, "+"):
			letters := word.Text[1:]
			if strings.Trim(letters, "aeuxCo") != "" || letters == "" {
				r.outside("set %s", word.Raw)
			}
			if strings.HasSuffix(letters, "o") {
				if i++; i == len(args) || !args[i].Known || !slices.Contains(setNames, args[i].Text) {
					r.outside("set %s with another option", word.Raw)
				}
			} else if strings.Contains(letters, "o") {
				r.outside("set %s", word.Raw)
			}
		default:
			return
		}
	}
}

// names looks at the words of builtins that assign to the variables that they are given.
func (r *reader) names(command string, args []Word) {
	for i, word := range args {
		if command == "printf" && (i == 0 || !args[i-1].Known || args[i-1].Text != "-v") || !word.Known {
			continue
		}
		r.settable(word.Text)
		if name, _, element := strings.Cut(word.Text, "["); element && strings.Trim(name, nameBytes) == "" {
			r.outside("%s of an element", command)
		}
	}
}
