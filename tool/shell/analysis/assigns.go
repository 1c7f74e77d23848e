package analysis

import (
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
	"mvdan.cc/sh/v3/syntax"
)

// assign gives a variable a value.
func (w *walker) assign(name string, v variable, s *state) {
	old, _ := s.lookup(name)
	v.exported, v.unsure = v.exported || old.exported, v.unsure || old.unsure
	if old.fixed || dynamic(name) {
		v = variable{exported: v.exported, unsure: v.unsure, fixed: old.fixed}
	}
	s.set(name, v)
}

// obeyed reports variables that the shell or nearly every program obeys: assigning one
// changes what later commands do.
func obeyed(name string) bool {
	switch name {
	case "PATH", "IFS", "CDPATH", "ENV", "GLOBIGNORE", "EXECIGNORE", "FIGNORE", "POSIXLY_CORRECT", "SHELLOPTS", "BASHOPTS",
		"PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4", "TEXTDOMAIN", "TEXTDOMAINDIR", "HOME", "PWD", "OLDPWD", "SHELL", "TMPDIR",
		"HISTFILE", "INPUTRC", "LANG", "LANGUAGE", "TMOUT", "HOSTFILE", "MAILPATH", "MAIL", "TIMEFORMAT":
		return true
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "LC_") ||
		strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "BASH_")
}

// runsCode are variables whose value the shell runs, or that decide what names mean.
var runsCode = map[string]string{
	"PATH":           "PATH is changed: names may mean other programs",
	"PS4":            "PS4 may run code",
	"PS0":            "PS0 may run code",
	"PS1":            "PS1 may run code",
	"PROMPT_COMMAND": "PROMPT_COMMAND runs code",
	"BASH_ENV":       "BASH_ENV names code that shells run",
	"ENV":            "ENV names code that shells run",
	"BASH_CMDS":      "BASH_CMDS changes what names mean",
	"BASH_ALIASES":   "BASH_ALIASES changes what names mean",
	"GLOBIGNORE":     "GLOBIGNORE changes what patterns mean",
	"SHELLOPTS":      "SHELLOPTS changes how the text is read",
	"BASHOPTS":       "BASHOPTS changes how the text is read",
	"BASH_COMPAT":    "BASH_COMPAT changes how the text is read",
	"EXECIGNORE":     "EXECIGNORE changes what names mean",
}

// setFor adds the part for a variable that is set for one command.
func (w *walker) setFor(name string, part int) {
	p := w.parts[part-1]
	w.add(Part{Kind: Assigns, Cause: part, Variable: name, Line: p.Line, Source: p.Source})
	w.codeIn(name, part)
}

// setBy adds the part for a variable that a builtin sets for all that follows.
func (w *walker) setBy(name string, part int) {
	p := w.parts[part-1]
	w.add(Part{Kind: Assigns, Variable: name, Line: p.Line, Source: p.Source})
	w.codeIn(name, part)
}

// codeIn adds an unknown part if the shell runs what the variable holds.
func (w *walker) codeIn(name string, part int) {
	if why := runsCode[name]; why != "" {
		w.unknown(part, nil, why)
	}
}

// noticed reports whether programs or the shell would notice that a variable is assigned.
func (w *walker) noticed(name string, s *state) bool {
	if w.exports || obeyed(name) {
		return true
	}
	if v, _ := s.lookup(name); v.exported {
		return true
	}
	_, inEnvironment := w.world.Variable(name)
	return inEnvironment
}

// assignPart adds the parts for an assignment in the shell itself, if it is noticed.
func (w *walker) assignPart(name string, node syntax.Node, s *state) {
	if w.noticed(name, s) {
		w.add(Part{Kind: Assigns, Variable: name, Line: w.line(node), Source: w.source(node)})
		w.codeIn(name, len(w.parts))
	}
}

// bareAssigns walks assignments without a command.
func (w *walker) bareAssigns(list []*syntax.Assign, s *state) {
	for _, a := range list {
		w.assignment(a, false, s)
	}
}

// assignment walks NAME=VALUE, NAME+=VALUE, NAME[i]=VALUE and NAME=(…).
func (w *walker) assignment(a *syntax.Assign, exported bool, s *state) {
	name := a.Name.Value
	v := w.assignedValue(a, s)
	v.exported = exported || w.exports
	w.assign(name, v, s)
	w.assignPart(name, a, s)
}

func (w *walker) assignedValue(a *syntax.Assign, s *state) variable {
	if a.Index != nil {
		w.subscript(a.Index, s, a)
	}
	if a.Array != nil {
		return w.array(a, s)
	}
	value := w.assignedWord(a.Value, s)
	numeric := a.Value != nil && isNumeric(a.Value)
	switch {
	case a.Index != nil:
		return variable{}
	case a.Append:
		old := w.value(a.Name.Value, s)
		if held, ok := s.lookup(a.Name.Value); !ok || held.isList || !old.Known || !value.Known {
			return variable{}
		}
		return variable{value: programs.Literal(old.Text + value.Text)}
	case !value.Known && !value.Number:
		value = programs.Word{}
	}
	return variable{value: value, numeric: numeric}
}

// assignedWord expands a value: no splitting, but a tilde also behind a colon.
func (w *walker) assignedWord(word *syntax.Word, s *state) programs.Word {
	if word == nil {
		return programs.Literal("")
	}
	value := w.single(word, s)
	if lit, ok := word.Parts[0].(*syntax.Lit); ok && (strings.Contains(lit.Value, ":~") || len(word.Parts) > 1 && hasTilde(word.Parts[1:])) {
		return programs.Word{Text: value.Text}
	}
	return value
}

// hasTilde reports whether unquoted text has a tilde, perhaps behind a colon.
func hasTilde(parts []syntax.WordPart) bool {
	for _, part := range parts {
		if lit, ok := part.(*syntax.Lit); ok && strings.Contains(lit.Value, "~") {
			return true
		}
	}
	return false
}

// subscript walks an index: arithmetic, or the key of an associative array.
func (w *walker) subscript(index syntax.ArithmExpr, s *state, node syntax.Node) {
	if word, ok := index.(*syntax.Word); ok {
		if _, plain := plainText(word); plain && word.Lit() == "" {
			return // a quoted key; as arithmetic it would be an error
		}
	}
	w.arithmetic(index, s, node)
}

// array walks NAME=(…). Its elements are known if they are plain.
func (w *walker) array(a *syntax.Assign, s *state) variable {
	var list []programs.Word
	known := !a.Append && a.Index == nil
	for _, elem := range a.Array.Elems {
		if elem.Index != nil {
			w.subscript(elem.Index, s, a)
			known = false
		}
		if elem.Value != nil {
			list = w.fields(list, []*syntax.Word{elem.Value}, s)
		}
	}
	if !known || !allKnown(list) {
		return variable{}
	}
	return variable{list: list, isList: true}
}

// prefixAssigns notes the assignments before a command: its environment. Bash forgets them
// afterwards; not knowing the variable any more is the careful way to say that.
func (w *walker) prefixAssigns(c *command, list []*syntax.Assign) {
	reads := len(c.words) > 0 && c.words[0].Known && c.words[0].Text == "read"
	for _, a := range list {
		name := a.Name.Value
		value := w.assignedValue(a, c.state).value
		if reads && name == "IFS" {
			continue // only changes how this one line is split
		}
		p := &w.parts[c.part-1]
		p.Env = append(p.Env, programs.Assignment{Name: name, Value: value})
		w.setFor(name, c.part)
		w.assign(name, variable{exported: true, unsure: true}, c.state)
	}
}
