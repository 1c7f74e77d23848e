package programs

import (
	"slices"
	"strings"
)

// A use is a flag in an invocation.
type use struct {
	flag  *flag
	at    int  // index of the argument that it stands in
	value Word // its last argument
	given bool // it has one
}

// A reader turns one invocation into a Reading: it tells flags from operands,
// and then says what each of them does.
type reader struct {
	entry    *entry // the program, or the subcommand that was reached
	args     []Word
	uses     []use
	operands []int // indices
	ended    bool  // what follows are operands
	skipped  int   // words before the last subcommand that belong to none
	depth    int   // how many subcommands were found
	subAt    int   // index of the last of them
	quits    bool  // --help or --version
	odd      bool  // a flag is not known
	turns    *role
	drops    int
	tree     bool
	assigned []int  // operands that set variables
	roles    []role // of the operands, once they are assigned
	cleared  bool   // its command has an empty environment
	late     []Run  // commands that a special function found
	starts   []int  // arguments that start a command and do nothing else (find -exec)
	started  int    // how many commands a program starts that otherwise only reads
	name     string // as the program was called
	out      Reading

	useRoom     [3]use
	operandRoom [6]int
	roleRoom    [6]role
}

// doubt says that something was not understood; the first reason is kept.
func (r *reader) doubt(why string) {
	if r.out.Why == "" {
		r.out.Why = why
	}
	r.out.Known = false
}

// spell says that only an allow which spells the argument covers it.
func (r *reader) spell(at int) {
	if at >= 0 && !slices.Contains(r.out.Spelled, at) {
		r.out.Spelled = append(r.out.Spelled, at)
	}
}

// plain says that an unknown argument hides nothing.
func (r *reader) plain(at int) {
	if !r.args[at].Known && !slices.Contains(r.out.Spelled, at) && !slices.Contains(r.out.Plain, at) {
		r.out.Plain = append(r.out.Plain, at)
	}
}

// used returns the first use of the flag that has this name, or nil.
func (r *reader) used(name string) *use {
	for i := range r.uses {
		if slices.Contains(r.uses[i].flag.names, name) {
			return &r.uses[i]
		}
	}
	return nil
}

// holds reports whether a line's condition is met.
func (r *reader) holds(c condition) bool {
	if len(c.flags) == 0 {
		return true
	}
	for i := range r.uses {
		for _, name := range r.uses[i].flag.names {
			if slices.Contains(c.flags, name) {
				return !c.unless
			}
		}
	}
	return c.unless
}

// scan tells flags from operands.
func (r *reader) scan() {
	for i := 0; i < len(r.args); {
		i += r.take(i)
	}
}

// take reads the argument at i, and returns how many it took.
func (r *reader) take(i int) int {
	w := r.args[i]
	switch t := w.Text; {
	case r.ended || r.entry.style&wordsOnly != 0:
		return r.operand(i)
	case !w.Known:
		return r.unknown(i)
	case t == "--":
		r.ended = true
		return 1
	case r.entry.style&bundled != 0 && i == 0 && t != "" && t[0] != '-':
		return r.bundle(i)
	case t == "" || t == "-":
		return r.operand(i)
	case t[0] == '+' && (r.entry.plus != nil || r.entry.long[t] != nil):
		return r.plus(i)
	case t[0] != '-':
		if n := r.pair(i); n > 0 {
			return n
		}
		return r.operand(i)
	case strings.HasPrefix(t, "--") || r.entry.style&oneHyphen != 0:
		return r.long(i)
	}
	return r.cluster(i, w, 1)
}

// operand takes a word that is no flag. It may name a subcommand.
func (r *reader) operand(i int) int {
	w := r.args[i]
	if len(r.entry.subs) > 0 && len(r.operands) == 0 {
		sub := r.entry.subs[w.Text]
		if w.Known && sub != nil {
			if err := sub.ready(); err != nil {
				r.doubt(err.Error())
			}
			r.skipped += i - r.subAt - 1
			r.entry, r.subAt, r.depth = sub, i, r.depth+1
			r.out.Sub = append(r.out.Sub, w.Text)
			return 1
		}
		if len(r.entry.operands) == 0 {
			r.doubt("subcommand " + w.Text + " of " + r.entry.name + " is not known")
			r.spell(i)
			r.ended = true
		}
	}
	if r.entry.style&stops != 0 {
		r.ended = true
	}
	r.operands = append(r.operands, i)
	return 1
}

// unknown takes a word that is only known when the command runs. If it may turn
// out to be a flag that does something, that is not understood.
func (r *reader) unknown(i int) int {
	w := r.args[i]
	if r.entry.style&bundled != 0 && i == 0 {
		r.doubt(w.Text + " is flags of " + r.entry.name + ", also without a hyphen")
		r.spell(i)
		return 1
	}
	if !w.MayBeFlag() {
		if n := r.begunPair(i); n > 0 {
			return n
		}
		return r.operand(i)
	}
	if strings.HasPrefix(w.Begin, "-") {
		if n := r.begun(i); n > 0 {
			return n
		}
	}
	switch {
	case r.harmless(w):
		r.tree = r.tree || r.entry.deepens // it may be -r
	default:
		r.doubt(w.Text + " may turn out to be a flag of " + r.entry.name)
		r.spell(i)
	}
	return r.operand(i)
}

// harmless reports whether the word may be any flag of the program and still do
// nothing unseen. Flags that read files are no matter for a glob: who can make
// names there can as well make files.
func (r *reader) harmless(w Word) bool {
	e := r.entry
	return !e.harmful && !e.wraps && len(e.subs) == 0 && e.open == "" && e.opaque == "" && (w.Glob || !e.reads)
}

// begun takes an unknown word of which a flag is known, as --output=$F. It
// returns 0 if not even the flag can be told.
func (r *reader) begun(i int) int {
	w := r.args[i]
	if w.Many && !w.Glob {
		return 0
	}
	name, rest, hasValue := strings.Cut(w.Begin, "=")
	if strings.HasPrefix(name, "--") || r.entry.style&oneHyphen != 0 {
		f := r.entry.long[r.longName(name)]
		if !hasValue || f == nil || f.args != 1 {
			return 0
		}
		r.use(f, i, cutBegin(w, len(w.Begin)-len(rest)), true)
		return 1
	}
	if r.entry.style&clusters == 0 {
		return 0
	}
	for at := 1; at < len(w.Begin); at++ {
		f := r.shortFlag(w.Begin[at])
		if f == nil {
			return 0
		}
		if f.args == 1 {
			for _, c := range w.Begin[1:at] {
				r.use(r.entry.short.get(byte(c)), i, Word{}, false)
			}
			r.use(f, i, cutBegin(w, at+1), true)
			return 1
		}
	}
	return 0
}

// begunPair takes an unknown word of which the key is known, as of=$F.
func (r *reader) begunPair(i int) int {
	w := r.args[i]
	at := strings.IndexByte(w.Begin, '=')
	if r.entry.style&pairs == 0 || at < 1 || w.Many && !w.Glob {
		return 0
	}
	f := r.entry.long[w.Begin[:at+1]]
	if f == nil {
		return 0
	}
	r.use(f, i, cutBegin(w, at+1), true)
	return 1
}

// cutBegin returns the unknown word without its first n known bytes.
func cutBegin(w Word, n int) Word {
	w.Begin = w.Begin[n:]
	if n <= len(w.Text) {
		w.Text = w.Text[n:]
	}
	return w
}

// use notes a flag.
func (r *reader) use(f *flag, at int, value Word, given bool) {
	r.uses = append(r.uses, use{flag: f, at: at, value: value, given: given})
	if f.spelled() {
		r.spell(at)
	}
	if f.ends {
		r.ended = true
	}
	r.drops = max(r.drops, f.drops)
	r.tree = r.tree || f.tree
	if f.turns != nil && (r.turns == nil || f.turns.verb.harmful()) {
		r.turns = f.turns
	}
}

// strange notes a word that looks like a flag and is none that is known.
func (r *reader) strange(at int, name string) {
	r.doubt("flag " + name + " of " + r.entry.name + " is not known")
	r.spell(at)
	r.odd = true
}

// suspect spells the argument of a flag that is a harmful flag itself: a version
// of the program that takes no argument there would obey it. `git log --format
// --output=x` writes x, and so does an older git for whatever flag is newer.
func (r *reader) suspect(at int) {
	t := r.args[at].Text
	if len(t) < 2 || t[0] != '-' {
		return
	}
	if r.mayHarm(t) {
		r.alarm(at, "is a flag itself where the one before it takes no argument")
	}
}

// mayHarm reports whether the word, read as flags, has one that does more than
// read and print.
func (r *reader) mayHarm(t string) bool {
	if f := r.entry.prefixed(t); f != nil {
		return f.harmful()
	}
	if strings.HasPrefix(t, "--") || r.entry.style&oneHyphen != 0 {
		name, _, _ := strings.Cut(t, "=")
		name = r.longName(name)
		for full, f := range r.entry.long {
			if f.harmful() && (full == name || r.entry.style&abbreviates != 0 && strings.HasPrefix(full, name)) {
				return true
			}
		}
		return false
	}
	for i := 1; i < len(t); i++ {
		if f := r.shortFlag(t[i]); f != nil && f.harmful() {
			return true
		}
	}
	return false
}
