package analysis

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// A command is a simple command while it is walked.
type command struct {
	words []programs.Word
	part  int // its Runs part
	state *state
	stdin input
	// after says that commands before it may have changed what is on disk.
	after bool
	// outside says that no builtin or function is meant: a wrapper starts it.
	outside bool
	// builtin says that no function is meant, as after `command`.
	builtin bool
	// direct says that nothing in its words reads its standard input before it does.
	direct bool
}

func (c *command) name() string { return c.words[0].Text }

// call walks a simple command: its words, assignments and redirections, and then what it
// runs.
func (w *walker) call(n *syntax.CallExpr, redirs []*syntax.Redirect, s *state) outcome {
	w.step()
	w.output = nil
	if len(n.Args) == 0 {
		w.redirects(redirs, s, 0)
		if len(redirs) > 0 {
			s = s.fork() // not if one of them fails
		}
		w.bareAssigns(n.Assigns, s)
		return stays(s.folders)
	}
	part := w.add(Part{Kind: Runs, Line: w.line(n), Source: w.commandSource(n, redirs)})
	if reserved(n.Args[0].Lit()) {
		w.unknown(part, nil, "a word of the shell where a command should be: bash reads it differently")
	}
	if name, _, assigns := strings.Cut(n.Args[0].Lit(), "="); assigns &&
		syntax.ValidName(strings.TrimSuffix(name, "+")) {
		w.unknown(part, nil, "an assignment where a command should be: bash reads it differently")
	}
	c := &command{part: part, state: s}
	c.words = w.fields(make([]programs.Word, 0, len(n.Args)), n.Args, s)
	c.stdin = w.redirects(redirs, s, part)
	w.prefixAssigns(c, n.Assigns)
	c.direct = len(w.parts) == part && len(n.Assigns) == 0
	if len(c.words) == 0 { // every word expanded to nothing
		w.parts[part-1].Words = literals([]string{""})
		return stays(s.folders)
	}
	o := w.run(c)
	w.output = w.printed(c, redirs)
	if mayFail(redirs) {
		o = outcome{ok: o.ok, fail: o.fail.or(s.folders)}
	}
	return o
}

// mayFail reports whether redirections may keep a command from running.
func mayFail(redirs []*syntax.Redirect) bool {
	return slices.ContainsFunc(redirs, func(r *syntax.Redirect) bool { return r.Word.Lit() != "/dev/null" })
}

// reserved reports words that bash never takes for a command.
func reserved(word string) bool {
	switch word {
	case "do", "done", "then", "fi", "else", "elif", "esac", "{", "}", "in", "!", "if", "while", "until", "for", "case",
		"select", "function", "[[", "]]", "coproc", "time":
		return true
	}
	return false
}

// commandSource is the text of a command with its redirections, without the bodies of
// here-documents.
func (w *walker) commandSource(n *syntax.CallExpr, redirs []*syntax.Redirect) string {
	from, to := n.Pos(), n.End()
	for _, r := range redirs {
		if from.After(r.Pos()) {
			from = r.Pos()
		}
		if end := r.Word.End(); end.After(to) {
			to = end
		}
	}
	return w.between(from, to)
}

// run fills in the part of a command, and walks what follows from it.
func (w *walker) run(c *command) outcome {
	p := &w.parts[c.part-1]
	p.Words, p.Dir = c.words, c.state.folders.runsIn()
	if w.facts.adrift {
		p.Dir = ""
	}
	if !c.words[0].Known {
		p.Opaque, p.Why = true, "which command runs is unknown before it runs"
		w.changed = true
		return w.anything(c.state)
	}
	name := c.name()
	if !c.outside && !c.builtin {
		switch f := w.facts.functions[name]; {
		case f == nil:
		case f.loose: // it may be the function, which is walked for itself
			w.builtinOrProgram(c)
			return w.anything(c.state)
		case c.state.funcs[name] != nil:
			w.functionPart(c)
			return w.callFunction(name, c.state.funcs[name], c.words[1:], c.part, c.state)
		}
	}
	return w.builtinOrProgram(c)
}

// functionPart marks the part as a function of the text itself.
func (w *walker) functionPart(c *command) {
	p := &w.parts[c.part-1]
	p.Builtin = true
	p.Reading = programs.Reading{Program: c.name(), Known: true, Readonly: true, Complete: true, Prefix: 1,
		Transparent: true}
}

func (w *walker) builtinOrProgram(c *command) outcome {
	if b := special[c.name()]; b != nil && !c.outside {
		w.parts[c.part-1].Builtin = true
		return b(w, c)
	}
	w.program(c)
	return stays(c.state.folders)
}

// anything is the outcome of code that may do everything a shell can.
func (w *walker) anything(s *state) outcome {
	w.forgetAll(s)
	w.way.moves++
	w.way.jumps++
	s.folders, s.paramsKnown = folders{}, false
	return stays(folders{})
}

// forgetAll makes every variable's value unknown: from here on in the straight line, and
// everywhere if the code may run at another time.
func (w *walker) forgetAll(s *state) {
	if s.straight {
		s.lost = true
	} else {
		w.facts.learn(&w.facts.wild)
	}
}

// program reads what a program would do.
func (w *walker) program(c *command) {
	reading := w.reading(c)
	w.parts[c.part-1].Reading = reading
	c.after = w.changed
	if !quiet(reading) {
		w.changed = true
	}
	w.named(c)
	w.git(c, reading)
	w.effects(c, reading)
	w.own(c, reading)
	w.otherName(c)
}

// reading asks the table about a program. One that is named by a path is what its base name
// says for a deny, but is only trusted to be that if the PATH leads there too.
func (w *walker) reading(c *command) programs.Reading {
	name := c.name()
	base := path.Base(name)
	r := programs.Interpret(base, c.words[1:])
	if base == name || r.Program == "" || base != "git" && w.onPath(name, base) {
		return r
	}
	r.Known, r.Readonly, r.Complete, r.Transparent = false, false, false, false
	r.Why = name + " may be another program than " + base
	return r
}

// onPath reports whether a path leads to the program that its base name alone means.
func (w *walker) onPath(name, base string) bool {
	usual := w.world.Program(base)
	if usual == "" || !path.IsAbs(name) {
		return false
	}
	real, kind := w.world.Look(path.Clean(name))
	other, _ := w.world.Look(usual)
	return kind == File && real == other
}

// quiet reports whether a program changes nothing on disk.
func quiet(r programs.Reading) bool {
	if !r.Known || !r.Complete || r.Opaque != "" || len(r.Runs) > 0 || r.Stdin {
		return false
	}
	for _, e := range r.Effects {
		if e.Kind == programs.Write || e.Kind == programs.Delete {
			return false
		}
	}
	return true
}

// named notes a script that is run by its path.
func (w *walker) named(c *command) {
	name := c.name()
	if isDevice(name) {
		w.unknown(c.part, nil, "runs a file that it is given")
		return
	}
	if path.Base(name) == name || w.at.elsewhere {
		return
	}
	w.scriptFile(c, c.words[0])
}

// scriptFile notes a file that is run as code.
func (w *walker) scriptFile(c *command, word programs.Word) {
	if !word.Known || w.at.elsewhere {
		return
	}
	for _, dir := range c.state.folders.list {
		if name, ok := w.absolute(word.Text, dir); ok {
			w.scripts = append(w.scripts, ranScript{name, c.part})
			if _, kind := w.world.Look(name); kind == File {
				w.file(name)
			}
		}
	}
}

// maxCalls is how deep functions may call each other.
const maxCalls = 20

// declare notes a function. Its body runs where it is called, if the name is certain to mean
// it; else it is walked for itself.
func (w *walker) declare(decl *syntax.FuncDecl, s *state) {
	if decl.Name == nil || !compound(decl.Body) {
		w.unknown(0, decl, "a function that bash does not read")
	}
	if decl.Name == nil {
		w.stmt(decl.Body, s.adrift())
		return
	}
	if name := decl.Name.Value; w.once(w.function(name), decl, s.straight && !w.risky) {
		if s.funcs == nil {
			s.funcs = make(map[string]*syntax.FuncDecl)
		}
		s.funcs[name] = decl
	} else {
		delete(s.funcs, name)
	}
	if w.places == nil {
		w.places = make(map[*syntax.FuncDecl]place)
	}
	w.places[decl] = w.at
	w.pending = append(w.pending, decl)
}

// function is the fact about a name of a function. Every command asks for its name, so that
// every one that comes up counts as used.
func (w *walker) function(name string) *fact {
	f := w.facts.functions[name]
	if f == nil {
		f = &fact{used: w.facts.walk}
		w.facts.functions[name] = f
	}
	return f
}

// compound reports whether a statement may be the body of a function in bash.
func compound(stmt *syntax.Stmt) bool {
	switch stmt.Cmd.(type) {
	case *syntax.Block, *syntax.Subshell, *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause,
		*syntax.ArithmCmd, *syntax.TestClause:
		return !stmt.Negated
	}
	return false
}

// callFunction walks the body of a function with the arguments.
func (w *walker) callFunction(name string, decl *syntax.FuncDecl, args []programs.Word, part int, s *state) outcome {
	w.markCalled(decl)
	if slices.Contains(w.calls, name) || len(w.calls) >= maxCalls || !w.mayRepeat() {
		w.unknown(part, nil, "the function "+name+" calls itself, or too many others")
		return w.anything(s)
	}
	at := w.places[decl]
	at.line, at.cause, at.inner, at.elsewhere = w.parts[part-1].Line, part, true, w.at.elsewhere
	body := s.fork()
	body.params, body.paramsKnown = args, noneMany(args)
	before := w.way
	var o outcome
	w.calls = append(w.calls, name)
	w.inside(at, func() {
		w.repeating(func() { o = w.stmt(decl.Body, body) })
	})
	w.calls = w.calls[:len(w.calls)-1]
	if before.moves != w.way.moves && before.jumps != w.way.jumps {
		return stays(folders{})
	}
	return o
}

// noneMany reports whether each word is exactly one.
func noneMany(words []programs.Word) bool {
	for _, word := range words {
		if !word.Known && word.Many || word.Glob {
			return false
		}
	}
	return true
}
