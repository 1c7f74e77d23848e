package analysis

import (
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// A builtin says what one of the shell's own commands does.
type builtin func(*walker, *command) outcome

// special are the shell's own commands. It is filled at start, since some of them walk
// text and so lead back here.
var special map[string]builtin

func init() {
	special = map[string]builtin{
		"cd": cd, "pushd": pushd, "popd": popd, "dirs": dirs,
		"printf": printfBuiltin, "test": testBuiltin, "[": testBuiltin,
		"eval": evalBuiltin, "source": sourceBuiltin, ".": sourceBuiltin, "exec": execBuiltin,
		"command": commandBuiltin, "builtin": commandBuiltin, "trap": trapBuiltin,
		"read": readBuiltin, "mapfile": mapfileBuiltin, "readarray": mapfileBuiltin, "getopts": getoptsBuiltin,
		"unset": unsetBuiltin, "set": setBuiltin, "shift": shiftBuiltin, "shopt": shoptBuiltin,
		"export": declareBuiltin, "declare": declareBuiltin, "typeset": declareBuiltin, "readonly": declareBuiltin,
		"local": declareBuiltin,
		"let":   letBuiltin, "wait": waitBuiltin, "jobs": jobsBuiltin, "hash": hashBuiltin,
	}
	for _, name := range []string{":", "true", "false", "echo", "pwd", "exit", "type", "times", "caller", "help", "logout"} {
		special[name] = harmlessBuiltin
	}
	for _, name := range []string{"return", "break", "continue"} {
		special[name] = jumpBuiltin
	}
	special["ulimit"] = func(w *walker, c *command) outcome {
		w.risky = true // then even a redirection to /dev/null may fail
		return plainBuiltin(w, c)
	}
	for _, name := range []string{"umask", "disown", "suspend", "bg", "fg", "unalias"} {
		special[name] = plainBuiltin
	}
	for _, name := range []string{"alias", "enable", "bind", "complete", "compgen", "compopt", "fc", "history"} {
		special[name] = opaqueBuiltin
	}
}

// harmlessReading is that of a builtin that touches nothing outside the shell.
func harmlessReading(name string) programs.Reading {
	return programs.Reading{Program: name, Known: true, Readonly: true, Complete: true, Prefix: 1}
}

// harmless gives the command such a reading; its words may hold anything.
func (w *walker) harmless(c *command) outcome {
	r := harmlessReading(c.name())
	for i, word := range c.words[1:] {
		if !word.Known {
			r.Plain = append(r.Plain, i)
		}
	}
	p := &w.parts[c.part-1]
	p.Reading = r
	if p.Dir == "" {
		p.Dir = w.start.only() // it touches nothing, so any folder is as good
	}
	return stays(c.state.folders)
}

func harmlessBuiltin(w *walker, c *command) outcome { return w.harmless(c) }

// jumpBuiltin leaves a loop or a function: what stands behind it may not run.
func jumpBuiltin(w *walker, c *command) outcome {
	w.way.jumps++
	return w.harmless(c)
}

// plainBuiltin changes something of the shell that is no file.
func plainBuiltin(w *walker, c *command) outcome {
	o := w.harmless(c)
	w.parts[c.part-1].Reading.Readonly = false
	return o
}

// opaqueBuiltin can run code, or change what names mean, when it has arguments.
func opaqueBuiltin(w *walker, c *command) outcome {
	o := plainBuiltin(w, c)
	if len(c.words) > 1 {
		w.opaque(c, c.name()+" may run code, or change what names mean")
	}
	return o
}

// opaque adds an unknown part to a command.
func (w *walker) opaque(c *command, why string) {
	w.parts[c.part-1].Reading.Readonly = false
	w.unknown(c.part, nil, why)
}

// options reads the flags of a builtin. It returns the letters with their arguments and the
// index of the first operand; ok is false if a word that may be a flag is not known.
func options(words []programs.Word, withArgument string) (flags []flagged, rest int, ok bool) {
	for i := 1; i < len(words); i++ {
		word := words[i]
		if !word.Known {
			return flags, i, !word.MayBeFlag()
		}
		if word.Text == "--" {
			return flags, i + 1, true
		}
		if len(word.Text) < 2 || word.Text[0] != '-' {
			return flags, i, true
		}
		for j := 1; j < len(word.Text); j++ {
			f := flagged{letter: word.Text[j]}
			if strings.IndexByte(withArgument, f.letter) >= 0 {
				if j+1 < len(word.Text) {
					f.value = programs.Literal(word.Text[j+1:])
				} else if i++; i < len(words) {
					f.value = words[i]
				}
				flags = append(flags, f)
				break
			}
			flags = append(flags, f)
		}
	}
	return flags, len(words), true
}

// known reports whether the builtin has all of these flags: else it fails.
func known(flags []flagged, letters string) bool {
	for _, f := range flags {
		if strings.IndexByte(letters, f.letter) < 0 {
			return false
		}
	}
	return true
}

// flagged is a flag of a builtin with its argument.
type flagged struct {
	letter byte
	value  programs.Word
}

// assignTo makes a builtin assign to the variables that words name. A subscript in such a
// name is evaluated as code.
func (w *walker) assignTo(c *command, names []programs.Word) {
	for _, name := range names {
		if !name.Known || !isName(name.Text) {
			w.opaque(c, c.name()+" assigns to something whose subscript may be code")
			w.forgetAll(c.state)
			return
		}
		v := variable{}
		if c.name() == "unset" {
			f := w.facts.of(name.Text)
			w.facts.about(f, &f.unset)
			v.value = programs.Literal("")
		}
		w.assign(name.Text, v, assigner{part: c.part}, c.state)
	}
}

// wrapping is the reading of a builtin that does nothing but run something else.
func (w *walker) wrapping(c *command) {
	w.parts[c.part-1].Reading = programs.Reading{Program: c.name(), Known: true, Complete: true, Transparent: true}
}

func evalBuiltin(w *walker, c *command) outcome {
	w.wrapping(c)
	texts := make([]string, 0, len(c.words))
	for i, word := range c.words[1:] {
		if !word.Known {
			w.unknown(c.part, nil, "runs text that is unknown before it runs")
			return w.anything(c.state)
		}
		if i > 0 || word.Text != "--" {
			texts = append(texts, word.Text)
		}
	}
	o := w.scriptText(c, strings.Join(texts, " "), itself, nil, c.state.fork())
	return outcome{ok: o.ok, fail: o.fail.or(c.state.folders)} // an expansion that fails ends it early
}

func sourceBuiltin(w *walker, c *command) outcome {
	w.wrapping(c)
	w.parts[c.part-1].Reading.Complete = false
	if len(c.words) > 1 {
		w.scriptFile(c, c.words[1])
		p := Part{Kind: Touches, Cause: c.part, Access: programs.Read, Line: w.parts[c.part-1].Line,
			Source: w.parts[c.part-1].Source}
		w.touch(p, c.words[1], c.state, false)
	}
	w.unknown(c.part, nil, "runs what is in a file")
	w.changed = true
	return w.anything(c.state)
}

// execBuiltin replaces the shell by a program; alone it only redirects.
func execBuiltin(w *walker, c *command) outcome {
	w.wrapping(c)
	_, rest, ok := options(c.words, "a")
	if !ok {
		w.unknown(c.part, nil, "which command runs is unknown before it runs")
	}
	if rest < len(c.words) {
		w.started(c, &command{words: c.words[rest:], outside: true})
	} else {
		w.parts[c.part-1].Reading = harmlessReading("exec")
	}
	return stays(c.state.folders)
}

// commandBuiltin runs a builtin or program, past functions.
func commandBuiltin(w *walker, c *command) outcome {
	w.wrapping(c)
	flags, rest, ok := options(c.words, "")
	if !ok {
		w.unknown(c.part, nil, "which command runs is unknown before it runs")
	}
	for _, f := range flags {
		if f.letter == 'v' || f.letter == 'V' {
			return w.harmless(c)
		}
	}
	if rest >= len(c.words) {
		return w.harmless(c)
	}
	return w.started(c, &command{words: c.words[rest:], builtin: true})
}

// started walks a command that a builtin starts in the same shell.
func (w *walker) started(c, next *command) outcome {
	outer := w.parts[c.part-1]
	next.part = w.add(Part{Kind: Runs, Cause: c.part, Inner: true, Line: outer.Line, Source: outer.Source,
		Env: outer.Env})
	next.state, next.stdin = c.state, c.stdin
	if w.depth >= maxInner {
		w.parts[next.part-1].Words = next.words
		w.unknown(next.part, nil, "commands are nested too deeply")
		return w.anything(c.state)
	}
	w.depth++
	o := w.run(next)
	w.depth--
	return o
}

// trapBuiltin walks the action, which runs at a time that is not known. Unless that is the
// very end, the folder may be another at any time if it goes to one.
func trapBuiltin(w *walker, c *command) outcome {
	w.wrapping(c)
	flags, rest, ok := options(c.words, "")
	words := c.words[rest:]
	switch {
	case !ok || len(words) > 0 && !words[0].Known:
		w.unknown(c.part, nil, "sets a trap with text that is unknown before it runs")
		w.changed = true
		w.facts.learn(&w.facts.wild)
		w.facts.learn(&w.facts.adrift)
		return stays(c.state.folders)
	case len(flags) > 0 || len(words) < 2 || words[0].Text == "-" || words[0].Text == "":
		return w.harmless(c)
	}
	before := w.way
	w.apart(func() {
		w.scriptText(c, words[0].Text, itself, nil, c.state.adrift())
		if atExit(words[1:]) {
			return
		}
		w.changed = true
		if w.way.moves != before.moves {
			w.facts.learn(&w.facts.adrift)
		}
	})
	return stays(c.state.folders)
}

func atExit(signals []programs.Word) bool {
	for _, signal := range signals {
		if !signal.Known || signal.Text != "EXIT" && signal.Text != "0" {
			return false
		}
	}
	return true
}
