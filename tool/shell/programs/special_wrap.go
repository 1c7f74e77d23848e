package programs

import (
	"slices"
	"strings"
)

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
		command.Words = append(command.Words[:len(command.Words):len(command.Words)], Word{Text: "…", Many: true, Input: true})
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
