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
		"export": declareBuiltin, "declare": declareBuiltin, "typeset": declareBuiltin, "readonly": declareBuiltin, "local": declareBuiltin,
		"let": letBuiltin, "wait": waitBuiltin, "jobs": jobsBuiltin, "hash": hashBuiltin,
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
