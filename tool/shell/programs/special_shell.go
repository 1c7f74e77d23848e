package programs

import (
	"slices"
	"strings"
)

// readShell says what a shell runs: the text behind -c, a script, or what comes
// on standard input.
func readShell(r *reader) {
	defer r.shellFlags()
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

// shellFlags looks for flags that may be -c or -s in another spelling, such as +c: then a word behind them, or the input, is
// a command.
func (r *reader) shellFlags() {
	for i, w := range r.args {
		behind := len(r.operands) > 0 && i >= r.operands[0]
		if behind && (i > r.operands[0] || r.used("-c") != nil) || w.Known && w.Text == "--" {
			break
		}
		plus := w.Known && strings.HasPrefix(w.Text, "+") && strings.ContainsAny(w.Text, "cs")
		r.odd = r.odd || plus || !w.Known && w.MayBeFlag()
	}
	if r.odd {
		r.opaque("a flag of " + r.name + " that is not known may have it run a word or its input")
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

// readEnv knows that a lone hyphen clears the environment. Without its PATH it is as good as
// cleared.
func readEnv(r *reader) {
	if len(r.operands) > 0 && r.args[r.operands[0]].Known && r.args[r.operands[0]].Text == "-" {
		r.operands = r.operands[1:]
		r.cleared = true
	}
	if r.used("-i") != nil {
		r.cleared = true
	}
	for _, u := range r.uses {
		if slices.Contains(u.flag.names, "-u") && (!u.value.Known || u.value.Text == "PATH") {
			r.cleared = true
		}
	}
	if len(r.operands) == 0 {
		r.quits = true
		if r.used("-S") == nil {
			r.shows("")
		}
	}
}

// finishEnv splits the string of -S and reads the words again, in its place.
func finishEnv(r *reader) {
	for i := range r.out.Runs {
		r.out.Runs[i].Cleared = r.cleared
	}
	u := r.used("-S")
	if u == nil {
		return
	}
	words, ok := splitEnv(u.value)
	if !ok {
		r.doubt("the string of env -S is not understood")
		r.out.Runs = append(r.out.Runs, Run{Words: []Word{{Text: u.value.Text, Many: true}}})
		return
	}
	rest := u.at + 1
	if !strings.HasSuffix(r.args[u.at].Text, u.value.Text) {
		rest++ // it is a word of its own
	}
	inner := interpret(r.entry, r.name, append(words, r.args[min(rest, len(r.args)):]...))
	r.out.Runs = inner.Runs
	for i := range r.out.Runs {
		r.out.Runs[i].Cleared = r.out.Runs[i].Cleared || r.cleared
		if r.out.Runs[i].Dir == (Word{Known: true}) {
			r.out.Runs[i].Dir = r.out.Dir
		}
	}
	if !inner.Known {
		r.doubt(inner.Why)
	}
	if len(inner.Spelled) > 0 {
		r.spell(u.at)
	}
}

// splitEnv cuts a string as env -S does; what has quotes, escapes or variables
// in it is not understood.
func splitEnv(w Word) ([]Word, bool) {
	if !w.Known || strings.ContainsAny(w.Text, `\"'$#`) {
		return nil, false
	}
	var words []Word
	for s := range strings.FieldsSeq(w.Text) {
		words = append(words, Literal(s))
	}
	return words, true
}

// finishXargs adds what xargs reads to the command: in place of a word, or as
// any number of words at the end.
func finishXargs(r *reader) {
	if len(r.out.Runs) == 0 {
		if r.quits {
			return
		}
		r.out.Why, r.out.Known = "", len(r.out.Spelled) == 0 // no command is echo
		r.runs(Run{Words: []Word{Literal("echo")}})
	}
	command := &r.out.Runs[0]
	marks := r.marks()
	for _, mark := range marks {
		command.Words = replaced(command.Words, mark)
		for i := range command.Words {
			command.Words[i].Input = command.Words[i].Input || !command.Words[i].Known && command.Words[i].Text == mark
		}
	}
	// Of flags that exclude each other xargs obeys the last.
	if len(marks) == 0 || r.used("-n") != nil || r.used("-L") != nil || r.used("-l") != nil {
		command.Words = append(command.Words[:len(command.Words):len(command.Words)],
			Word{Text: "…", Many: true, Input: true})
	}
}

// marks are the words that xargs replaces by what it reads.
func (r *reader) marks() (marks []string) {
	for i := range r.uses {
		u := &r.uses[i]
		switch {
		case slices.Contains(u.flag.names, "-I") && u.given:
			marks = append(marks, u.value.Text)
		case slices.Contains(u.flag.names, "-i") && u.given && u.value.Text != "":
			marks = append(marks, u.value.Text)
		case slices.Contains(u.flag.names, "-i"):
			marks = append(marks, "{}")
		}
	}
	return marks
}

// replaced returns the words, of which those with the mark are not known.
func replaced(words []Word, mark string) []Word {
	out := make([]Word, len(words))
	for i, w := range words {
		if w.Known && strings.Contains(w.Text, mark) {
			begin, _, _ := strings.Cut(w.Text, mark)
			w = Word{Text: w.Text, Begin: begin}
		}
		out[i] = w
	}
	return out
}

// finishEntr replaces the name of the file that changed.
func finishEntr(r *reader) {
	for i := range r.out.Runs {
		r.out.Runs[i].Words = replaced(r.out.Runs[i].Words, "/_")
	}
}

// readParallel cuts the command of parallel from its inputs. It hands the
// command to a shell, so that only plain words are understood.
func readParallel(r *reader) {
	if len(r.operands) == 0 || r.args[r.operands[0]].Known && strings.HasPrefix(r.args[r.operands[0]].Text, ":::") {
		r.opaque("parallel runs the lines that it reads")
		return
	}
	from := r.operands[0]
	end := from
	for end < len(r.args) && !(r.args[end].Known && strings.HasPrefix(r.args[end].Text, ":::")) {
		end++
	}
	words := r.args[from:end:end]
	shellText := false
	for _, w := range words {
		shellText = shellText || !w.Known || strings.ContainsAny(w.Text, " \t\n;&|<>()$`\\\"'*?[#~")
	}
	r.parallelInputs(end)
	r.plainFrom(from)
	if shellText {
		r.runs(Run{IsScript: true, Script: Word{Text: joined(words).Text}})
		return
	}
	marked := false
	for _, w := range words {
		marked = marked || strings.Contains(w.Text, "{")
	}
	words = replaced(words, "{")
	if !marked {
		words = append(words, Word{Text: "…", Many: true})
	}
	r.runs(Run{Words: words})
}

// parallelInputs notes the files behind ::::.
func (r *reader) parallelInputs(at int) {
	files := false
	for ; at < len(r.args); at++ {
		w := r.args[at]
		switch {
		case w.Known && strings.HasPrefix(w.Text, "::::"):
			files = true
		case w.Known && strings.HasPrefix(w.Text, ":::"):
			files = false
		case files:
			r.file(Read, w, at, false, false)
		}
	}
}
