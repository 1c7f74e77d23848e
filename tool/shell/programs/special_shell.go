package programs

import "strings"

// readShell says what a shell runs: the text behind -c, a script, or what comes
// on standard input.
func readShell(r *reader) {
	if r.shellOdd() {
		return
	}
	switch {
	case r.used("-c") != nil:
		if len(r.operands) == 0 {
			r.doubt(r.name + " -c has no command")
			return
		}
		at := r.operands[0]
		r.runs(Run{IsScript: true, Shell: r.name, Script: r.args[at], Args: r.args[at+1:]})
		r.plainFrom(at)
	case r.used("-s") != nil || len(r.operands) == 0:
		if r.quits {
			return
		}
		r.out.Stdin = true
		r.open("runs what comes on standard input")
	default:
		r.script(r.args[r.operands[0]], r.operands[0], false)
	}
}

// shellOdd looks for long flags with one hyphen, which bash takes as well.
func (r *reader) shellOdd() bool {
	for i, w := range r.args {
		if len(r.operands) > 0 && i >= r.operands[0] {
			return false
		}
		if w.Known && len(w.Text) > 2 && !strings.HasPrefix(w.Text, "--") && r.entry.long["-"+w.Text] != nil {
			r.strange(i, w.Text)
			return true
		}
	}
	return false
}

// readForeignShell reads a shell whose language is not bash's: what it runs can
// be denied by its words, but not allowed.
func readForeignShell(r *reader) {
	readShell(r)
	if len(r.out.Runs) > 0 || r.out.Stdin {
		r.opaque(r.name + " has a language of its own")
	}
}

// readInterpreter says what an interpreter runs: inline code, a script, or what
// comes on standard input.
func readInterpreter(r *reader) {
	inline := r.out.Opaque != "" || r.drops > 0
	switch {
	case inline:
		r.interpreted()
	case r.turns != nil:
		for _, at := range r.operands {
			r.file(Read, r.args[at], at, false, false)
			r.plain(at)
		}
	case len(r.operands) > 0:
		r.script(r.args[r.operands[0]], r.operands[0], false)
	case !r.quits && !r.onlyTells():
		r.opaque("code on standard input cannot be read")
	}
}

// interpreted notes the operands of inline code that goes through files.
func (r *reader) interpreted() {
	if r.entry.name != "perl" && r.entry.name != "ruby" {
		return
	}
	inPlace := r.used("-i") != nil
	if !inPlace && r.used("-n") == nil {
		return
	}
	for _, at := range r.operands {
		r.file(Read, r.args[at], at, false, false)
		if inPlace {
			r.file(Write, r.args[at], at, false, true)
		}
		r.plain(at)
	}
}

// onlyTells reports whether a flag makes the interpreter print about itself.
func (r *reader) onlyTells() bool {
	flags := "-v"
	switch r.entry.name {
	case "python":
		flags = "-V"
	case "perl":
		flags = "-v -V"
	case "php":
		flags = "-v -S"
	case "node":
		flags = "-v --test --run"
	case "lua":
		flags = "-v"
	}
	for name := range strings.FieldsSeq(flags) {
		if r.used(name) != nil {
			return true
		}
	}
	return false
}

// readPython also knows -m, which runs a module; some modules are programs that
// the table has under the same name.
func readPython(r *reader) {
	if r.used("-i") != nil { // once the script has ended
		defer r.opaque("code on standard input cannot be read")
	}
	u := r.used("-m")
	if u == nil || r.out.Opaque != "" {
		readInterpreter(r)
		return
	}
	r.open("runs a module")
	if !u.given || !u.value.Known || find(u.value.Text) == nil {
		return
	}
	words := []Word{u.value}
	for _, at := range r.operands {
		words = append(words, r.args[at])
		r.plain(at)
	}
	r.runs(Run{Words: words})
}
