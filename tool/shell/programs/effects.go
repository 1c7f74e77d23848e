package programs

import "strings"

// act says what the operand k does. It reports whether the words from there on
// belong to another command.
func (r *reader) act(k int) bool {
	at, want := r.operands[k], r.roles[k]
	switch want.verb {
	case run:
		r.runs(Run{Words: r.args[at:]})
		r.plainFrom(at)
		return true
	case shell:
		r.runs(Run{IsScript: true, Script: joined(r.args[at:])})
		r.plainFrom(at)
		return true
	case script:
		r.script(r.args[at], at, false)
		return true
	case into:
		r.receive(r.args[at], at, false, want.tree || r.tree)
	default:
		r.does(want, r.args[at], at, false)
	}
	r.plain(at)
	return false
}

func (r *reader) plainFrom(at int) {
	for ; at < len(r.args); at++ {
		r.plain(at)
	}
}

// does says what happens to a word, whoever names it. Runs and folders to write
// into are not its business.
func (r *reader) does(want role, w Word, at int, byFlag bool) {
	tree := want.tree || r.tree && !byFlag
	switch want.verb {
	case read:
		r.file(Read, w, at, tree, false)
	case list:
		r.file(Read, w, at, tree, false)
		r.last().Names = true
	case readList:
		r.file(Read, w, at, false, false)
		r.open("what it reads is listed in " + w.Text)
	case write:
		r.file(Write, w, at, tree, byFlag)
	case remove:
		r.file(Delete, w, at, tree, byFlag)
	case move:
		r.file(Read, w, at, true, byFlag)
		r.file(Delete, w, at, true, byFlag)
	case link:
		r.file(Read, w, at, tree, byFlag)
		r.file(Write, w, at, tree, byFlag)
	case connect:
		r.connects(w, at, byFlag)
	case fetch:
		r.connects(w, at, byFlag)
		r.last().Missing = true
	case remote, remoteWrite:
		r.remote(want, w, at, byFlag)
	case code:
		r.opaque("code for " + r.out.Program + " cannot be read")
	case script:
		r.script(w, at, byFlag)
	case run:
		r.runs(Run{IsScript: true, Script: w})
	}
}

// file notes an effect on a file. Standard input is no file.
func (r *reader) file(kind Kind, w Word, at int, tree, byFlag bool) {
	if w.Known && w.Text == "-" && kind == Read {
		return
	}
	r.out.Effects = append(r.out.Effects, Effect{Kind: kind, What: r.inDir(w), Arg: at, Tree: tree, ByFlag: byFlag})
}

// last is the effect that was noted last; a spare one if there is none.
func (r *reader) last() *Effect {
	if n := len(r.out.Effects); n > 0 {
		return &r.out.Effects[n-1]
	}
	return &Effect{}
}

// receive notes that a path, or the folder at that path, receives every file
// that the other operands name.
func (r *reader) receive(w Word, at int, byFlag, tree bool) {
	e := Effect{Kind: Write, What: r.inDir(w), Arg: at, Tree: tree, ByFlag: byFlag}
	any := false
	for k, want := range r.roles {
		switch want.verb {
		case read, move, link, remote:
			any = true
			e.Into, e.From = true, r.args[r.operands[k]]
			e.Tree = tree || want.tree || want.verb == move
			r.out.Effects = append(r.out.Effects, e)
		}
	}
	if !any {
		r.out.Effects = append(r.out.Effects, e)
	}
}

// script notes a file that is run as code.
func (r *reader) script(w Word, at int, byFlag bool) {
	if w.Known && w.Text == "-" {
		r.out.Stdin = true
		r.opaque("code on standard input cannot be read")
		return
	}
	r.file(Read, w, at, false, byFlag)
	r.out.Scripts = append(r.out.Scripts, r.inDir(w))
	r.open("it runs " + w.Text)
}

// runs notes another command.
func (r *reader) runs(c Run) {
	for _, at := range r.assigned {
		if a, ok := assignment(r.args[at]); ok {
			c.Env = append(c.Env, a)
		}
	}
	c.Dir = r.out.Dir
	c.Elsewhere = c.Elsewhere || r.entry.remote
	r.out.Runs = append(r.out.Runs, c)
}

// open says that more is done than what is listed.
func (r *reader) open(string) { r.out.Complete = false }

func (r *reader) opaque(why string) {
	if r.out.Opaque == "" {
		r.out.Opaque = why
	}
	r.out.Complete = false
}

// useFlags says what the flags do.
func (r *reader) useFlags() {
	for _, u := range r.uses {
		for _, want := range u.flag.does {
			if want.verb == chdir && u.given {
				r.chdir(u.value)
			}
		}
	}
	for i := range r.uses {
		u := &r.uses[i]
		if u.flag.alarm != "" {
			r.open(u.flag.alarm)
		}
		if !u.given && u.flag.optional {
			r.useBare(u)
		}
		if !u.given || u.flag.dash && u.value.Known && u.value.Text == "-" {
			continue
		}
		for _, want := range u.flag.does {
			if want.verb != into && want.verb != chdir {
				r.does(want, u.value, u.at, !u.flag.ok)
			}
		}
	}
}

// useBare says what a flag does whose argument was left out: the same, to
// something that the program chooses.
func (r *reader) useBare(u *use) {
	for _, want := range u.flag.does {
		switch want.verb {
		case write, remove, connect:
			r.does(want, Word{Text: "*"}, u.at, !u.flag.ok)
		case run, code, script:
			r.open("it runs what its configuration names")
		}
	}
}

// useEntry says what holds for every invocation of the program.
func (r *reader) useEntry() {
	if r.quits {
		return
	}
	if r.entry.stdin {
		r.out.Stdin = true
	}
	if r.entry.opaque != "" {
		r.opaque(r.entry.opaque)
	}
}

// useFolders lets flags that name a folder to write into receive the operands.
func (r *reader) useFolders() {
	for i := range r.uses {
		u := &r.uses[i]
		for _, want := range u.flag.does {
			if want.verb == into && u.given {
				r.receive(u.value, u.at, !u.flag.ok, want.tree || r.tree)
			}
		}
	}
}

// useFixed says what every invocation does.
func (r *reader) useFixed(lines []fixedLine) {
	for _, line := range lines {
		if !r.holds(line.when) {
			continue
		}
		for _, path := range line.paths {
			n := len(r.out.Effects)
			r.does(line.role, fixedWord(path), -1, false)
			for i := n; i < len(r.out.Effects); i++ {
				r.out.Effects[i].Unpiped = line.unpiped
			}
		}
	}
}

// fixedWord is a path of a data file: a name, a pattern, or * for any.
func fixedWord(path string) Word {
	star := strings.IndexByte(path, '*')
	switch {
	case path == "*":
		return Word{Text: path}
	case star >= 0:
		return Word{Text: path, Begin: path[:star], Glob: true, Many: true}
	}
	return Literal(path)
}

// useDefaults says what is done if no operand names a file.
func (r *reader) useDefaults() {
	for _, want := range r.roles {
		if want.verb.isFile() {
			return
		}
	}
	if !r.quits {
		r.useFixed(r.entry.defaults)
	}
}

// chdir enters a folder, relative to the one before.
func (r *reader) chdir(w Word) {
	if r.out.Dir != (Word{Known: true}) {
		w = joinPath(r.out.Dir, w)
	}
	r.out.Dir = w
}

// inDir returns the path as seen from the caller's folder.
func (r *reader) inDir(w Word) Word {
	if r.out.Dir == (Word{Known: true}) {
		return w
	}
	return joinPath(r.out.Dir, w)
}

// joinPath returns the path of a file in a folder.
func joinPath(dir, file Word) Word {
	begin := file.Begin
	if file.Known {
		begin = file.Text
	}
	if strings.HasPrefix(begin, "/") {
		return file
	}
	w := file
	w.Text = dir.Text + "/" + file.Text
	w.Begin, w.Below = "", ""
	w.Number = false
	switch {
	case !dir.Known:
		w.Known, w.Begin = false, dir.Begin
	case !file.Known && file.Begin == "" && !file.Glob:
		// It may be an absolute path.
	case !file.Known:
		w.Begin = dir.Text + "/" + file.Begin
	}
	if file.Glob {
		w.Text = escapeGlob(dir.Text) + "/" + file.Text
	}
	return w
}

// escapeGlob quotes what a pattern would take for its own.
func escapeGlob(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(`*?[]\{}`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// joined puts words together as a shell reads them again.
func joined(words []Word) Word {
	all := Word{Known: true}
	for i, w := range words {
		if i > 0 {
			all.Text += " "
		}
		all.Text += w.Text
		all.Known = all.Known && w.Known
	}
	return all
}
