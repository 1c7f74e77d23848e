package analysis

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// An assigner says what assigns a variable: a part, or a place in the text.
type assigner struct {
	part int
	node syntax.Node
	// alone says that it is set for the command of the part, and for nothing else.
	alone bool
	// plain says that it gives the variable just this value, wherever it runs.
	plain bool
}

// assign gives a variable a value. Every way of assigning comes through here: it adds the
// parts for what is evaluated as code, and for what programs or the shell obey.
func (w *walker) assign(name string, v variable, by assigner, s *state) {
	w.assigned(name, v, by)
	w.hold(name, v, by, s)
}

// assigned adds the parts of an assignment.
func (w *walker) assigned(name string, v variable, by assigner) {
	if f := w.facts.of(name); !v.countable() {
		w.facts.about(f, &f.text)
	}
	if w.shapeOf(name)&integer != 0 && !v.countable() {
		w.unknown(by.part, by.node, "the value of "+name+", an integer, is evaluated as code")
	}
	if helps(name) && (by.alone || w.noticed(name)) {
		w.helper(name, v.value, by)
	}
	switch {
	case by.alone:
		w.setFor(name, by.part)
	case !w.noticed(name):
	case by.part > 0:
		w.setBy(name, by.part)
	default:
		w.add(Part{Kind: Assigns, Variable: name, Line: w.line(by.node), Source: w.source(by.node)})
		w.codeIn(name, len(w.parts))
	}
}

// helpers are what ends, or is, the name of a variable that holds a command which programs start: an editor, a pager.
var helpers = []string{"EDITOR", "PAGER", "VISUAL", "BROWSER", "ASKPASS", "_SSH", "_RSH", "_COMMAND", "_WRAPPER",
	"EXTERNAL_DIFF", "LESSOPEN", "LESSCLOSE"}

func helps(name string) bool {
	ends := func(end string) bool { return strings.HasSuffix(name, end) }
	return strings.HasPrefix(name, "GIT_CONFIG_") || slices.ContainsFunc(helpers, ends)
}

// plainWords are a command that every shell, and a program that splits it by itself, reads as the same words.
var plainWords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w./:=@%+, -]*$`) })

// helper adds the command that a variable holds, so that a deny of it is met.
func (w *walker) helper(name string, value programs.Word, by assigner) {
	words := strings.Fields(value.Text)
	switch {
	case value.Known && len(words) == 0:
	case !value.Known || !plainWords().MatchString(value.Text) || strings.HasPrefix(name, "GIT_CONFIG_"):
		w.unknown(by.part, by.node, name+" may name a command that programs start")
	default:
		p := Part{Kind: Runs, Cause: by.part, Alias: true, Words: literals(words), Reading: harmlessReading(path.Base(words[0]))}
		if by.part > 0 {
			p.Line, p.Source, p.Dir = w.parts[by.part-1].Line, w.parts[by.part-1].Source, w.parts[by.part-1].Dir
		} else {
			p.Line, p.Source = w.line(by.node), w.source(by.node)
		}
		w.add(p)
	}
}

// noticed reports whether programs or the shell would notice that a variable is assigned.
func (w *walker) noticed(name string) bool {
	if w.exports || obeyed(name) {
		return true
	}
	if w.facts.of(name).exports {
		return true
	}
	_, inEnvironment := w.world.Variable(name)
	return inEnvironment
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

// bareAssigns walks assignments without a command.
func (w *walker) bareAssigns(list []*syntax.Assign, s *state) {
	for _, a := range list {
		w.assignment(a, s)
	}
}

// assignment walks NAME=VALUE, NAME+=VALUE, NAME[i]=VALUE and NAME=(…).
func (w *walker) assignment(a *syntax.Assign, s *state) {
	name := a.Name.Value
	v := w.assignedValue(a, w.isKeyed(name, s), s)
	v.exported = w.exports
	w.assign(name, v, assigner{node: a, plain: !a.Append && a.Index == nil}, s)
}

// assignedValue is the value of an assignment to an associative array, if keyed, or to
// anything else.
func (w *walker) assignedValue(a *syntax.Assign, keyed bool, s *state) variable {
	if (a.Index != nil || a.Array != nil) && !keyed {
		w.declareShape(a.Name.Value, array)
	}
	if a.Index != nil {
		w.mayFail()
		w.subscript(a.Index, keyed, s, a)
	}
	if a.Array != nil {
		return w.array(a, keyed, s)
	}
	value := w.assignedWord(a.Value, s)
	numeric := a.Value != nil && isNumeric(a.Value)
	switch {
	case a.Index != nil || a.Append:
		return variable{numeric: numeric || isNumber(value)}
	case !value.Known && !value.Number:
		value = programs.Word{}
	}
	return variable{value: value, numeric: numeric && !value.Known}
}

// assignedWord expands a value: no splitting, but a tilde also behind a colon.
func (w *walker) assignedWord(word *syntax.Word, s *state) programs.Word {
	if word == nil {
		return programs.Literal("")
	}
	value := w.single(word, s)
	lit, ok := word.Parts[0].(*syntax.Lit)
	if ok && (strings.Contains(lit.Value, ":~") || len(word.Parts) > 1 && hasTilde(word.Parts[1:])) {
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

// subscript walks an index: the key of an associative array, or arithmetic.
func (w *walker) subscript(index syntax.ArithmExpr, keyed bool, s *state, node syntax.Node) {
	word, ok := index.(*syntax.Word)
	if ok && keyed {
		w.pieces(word.Parts, s)
		return
	}
	w.arithmetic(index, s, node)
}

// array walks NAME=(…). Its elements are known if they are plain.
func (w *walker) array(a *syntax.Assign, keyed bool, s *state) variable {
	var list []programs.Word
	known := !a.Append && a.Index == nil && !keyed
	for _, elem := range a.Array.Elems {
		if elem.Index != nil {
			w.subscript(elem.Index, keyed, s, a)
			known = false
		}
		if elem.Value != nil {
			list = w.fields(list, []*syntax.Word{elem.Value}, s)
		}
	}
	if !known || !allKnown(list) || len(list) > maxWords {
		return variable{numeric: allNumbers(list)}
	}
	return variable{list: list, isList: true}
}

// prefixAssigns notes the assignments before a command: its environment.
func (w *walker) prefixAssigns(c *command, list []*syntax.Assign) {
	reads := len(c.words) > 0 && c.words[0].Known && c.words[0].Text == "read"
	for _, a := range list {
		name := a.Name.Value
		value := w.assignedValue(a, false, c.state).value
		if reads && name == "IFS" {
			continue // only changes how this one line is split
		}
		p := &w.parts[c.part-1]
		p.Env = append(p.Env, programs.Assignment{Name: name, Value: value})
		w.assign(name, variable{value: value}, assigner{part: c.part, alone: true}, c.state)
	}
}
