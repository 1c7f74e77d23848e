package programs

import "strings"

// scanFind tells the folders of find from its expression, which has a grammar of
// its own: predicates with one hyphen, and commands up to a semicolon.
func scanFind(r *reader) {
	i := r.findOptions()
	for i < len(r.args) && !findExpression(r.args[i]) {
		if w := r.args[i]; w.MayBeFlag() {
			r.doubt(w.Text + " may turn out to be a part of find's expression")
			r.spell(i)
		}
		r.operands = append(r.operands, i)
		i++
	}
	for i < len(r.args) {
		i += r.predicate(i)
	}
}

// findOptions skips -H, -L, -P, -O3 and -D what.
func (r *reader) findOptions() int {
	i := 0
	for ; i < len(r.args) && r.args[i].Known; i++ {
		switch t := r.args[i].Text; {
		case t == "-H", t == "-L", t == "-P", len(t) == 3 && strings.HasPrefix(t, "-O"):
		case t == "-D":
			i++
		case t == "--":
			return i + 1
		default:
			return i
		}
	}
	return min(i, len(r.args))
}

// findExpression reports whether the folders end at this word.
func findExpression(w Word) bool {
	if !w.Known {
		return strings.HasPrefix(w.Begin, "-")
	}
	switch w.Text {
	case "(", ")", "!", ",":
		return true
	case "-", "--":
		return false
	}
	return strings.HasPrefix(w.Text, "-")
}

// predicate takes one part of the expression.
func (r *reader) predicate(i int) int {
	w := r.args[i]
	if !w.Known {
		r.doubt(w.Text + " may turn out to be any part of find's expression")
		r.spell(i)
		return 1
	}
	switch w.Text {
	case "(", ")", "!", ",":
		return 1
	case "--help", "--version":
		r.quits = true
		return 1
	case "-exec", "-execdir", "-ok", "-okdir":
		return r.findExec(i)
	case "-fprintf":
		if i+2 >= len(r.args) {
			r.doubt("-fprintf has no format")
			return len(r.args) - i
		}
		r.use(r.entry.long["-fprintf"], i, r.args[i+1], true)
		r.flagValue(i + 2)
		return 3
	}
	f := r.entry.long[w.Text]
	switch {
	case f == nil:
		r.strange(i, w.Text)
		return 1
	case f.args == 0:
		r.use(f, i, Word{}, false)
		return 1
	}
	return 1 + r.following(f, i)
}

// findExec takes a command up to ; or {} +. Words with {} are paths that are
// known when it runs; they begin with the folder that find was given.
func (r *reader) findExec(i int) int {
	var words []Word
	end := i + 1
	for ; end < len(r.args); end++ {
		w := r.args[end]
		if w.Known && (w.Text == ";" || w.Text == "+" && r.args[end-1].Text == "{}") {
			break
		}
		if !w.Known && w.Many {
			r.doubt(w.Text + " may be more than one word")
		}
		r.plain(end)
		words = append(words, r.found(w, r.args[i].Text))
	}
	name := r.args[i].Text
	if end >= len(r.args) {
		r.doubt(name + " has no end")
	} else if r.args[end].Text == "+" && len(words) > 0 {
		words[len(words)-1].Many = true
	}
	r.use(r.entry.long[name], i, Word{}, false)
	r.starts, r.started = append(r.starts, i), r.started+1
	if len(words) == 0 {
		r.doubt(name + " has no command")
		return end - i + 1
	}
	command := Run{Words: words}
	if strings.HasSuffix(name, "dir") {
		command.Dir = Word{Text: "{}"} // wherever the file lies
	}
	r.late = append(r.late, command)
	return end - i + 1
}

// found is a word with {} in it. Nothing is known of it but that a path stands
// there, which begins with a folder of the command line or with ./.
func (r *reader) found(w Word, action string) Word {
	if !w.Known || !strings.Contains(w.Text, "{}") {
		return w
	}
	begin, _, _ := strings.Cut(w.Text, "{}")
	switch {
	case begin != "":
	case strings.HasSuffix(action, "dir"):
		begin = "./"
	default:
		begin = r.commonFolder()
		if w.Text == "{}" && !r.followsLinks() {
			return Word{Text: w.Text, Begin: begin, Below: begin, Name: r.commonName()}
		}
	}
	return Word{Text: w.Text, Begin: begin}
}

// followsLinks reports whether find goes through links, so that what it finds may lie anywhere.
func (r *reader) followsLinks() bool {
	for _, w := range r.args {
		if !w.Known || w.Text == "-L" || w.Text == "-follow" || w.Text == "-files0-from" {
			return true
		}
	}
	return false
}

// commonName is a pattern for the names of all that find finds; empty if there is none. It
// reads only what find and path.Match read alike.
func (r *reader) commonName() string {
	name := ""
	for i, w := range r.args {
		switch w.Text {
		case "!", "-not", "-o", "-or", ",", "(", ")":
			return ""
		case "-name":
			if i+1 < len(r.args) && plainWords(strings.ReplaceAll(r.args[i+1].Text, "*", ""), "") {
				name = r.args[i+1].Text
			}
		}
	}
	return name
}

// lists says what find prints, if that is only paths.
func (r *reader) lists() {
	list := Listing{Below: Literal(r.commonFolder()), Name: r.commonName()}
	if list.Below.Text == "" || r.followsLinks() || len(r.late) > 0 {
		return
	}
	printed := 0
	for _, w := range r.args {
		switch w.Text {
		case "-ls", "-printf", "-fprint", "-fprint0", "-fls", "-fprintf", "-D":
			return
		case "-print":
			printed |= 1
		case "-print0":
			printed |= 2
		}
	}
	if list.Zero = printed == 2; printed < 3 && !r.quits {
		r.out.Lists = list
	}
}

// commonFolder is what every path that find prints begins with; empty if there
// are several folders.
func (r *reader) commonFolder() string {
	switch {
	case len(r.operands) == 0:
		return "."
	case len(r.operands) > 1 || !r.args[r.operands[0]].Known:
		return ""
	}
	return r.args[r.operands[0]].Text
}

// runFound adds the commands of -exec, with the working folder they have.
func runFound(r *reader) {
	r.lists()
	for _, c := range r.late {
		dir := c.Dir
		r.runs(c)
		if dir.Text != "" {
			r.out.Runs[len(r.out.Runs)-1].Dir = dir
		}
	}
}

// finishGrep knows that --include leaves files out. With --exclude the last that matches
// counts: then nothing is said.
func finishGrep(r *reader) {
	if r.used("--exclude") != nil || r.used("--exclude-from") != nil {
		return
	}
	var only []string
	for i := range r.uses {
		u := &r.uses[i]
		if u.flag.names[0] != "--include" {
			continue
		}
		// Some match the whole path, some the name alone: for an ending it is the same.
		ending, ok := strings.CutPrefix(u.value.Text, "*")
		if !u.value.Known || !ok || ending == "" || strings.ContainsAny(ending, `*?[\/`) {
			return
		}
		only = append(only, u.value.Text)
	}
	for i := range r.out.Effects {
		r.out.Effects[i].Only = only
	}
}

// finishRg knows that rg leaves hidden files out, unless it is told which to take.
func finishRg(r *reader) {
	for _, name := range []string{"--hidden", "--glob", "--ignore-file"} {
		if r.used(name) != nil {
			return
		}
	}
	for i := range r.out.Effects {
		r.out.Effects[i].Visible = r.out.Effects[i].Tree
	}
}
