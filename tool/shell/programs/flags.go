package programs

import (
	"slices"
	"strings"
)

// long takes a flag that is written out: --name, --name=value, or with one
// hyphen where the program does that.
func (r *reader) long(i int) int {
	t := r.args[i].Text
	name, value, hasValue := strings.Cut(t, "=")
	name = r.longName(name)
	f := r.entry.long[name]
	if f == nil {
		if f = r.entry.prefixed(t); f != nil {
			r.use(f, i, Literal(t[len(f.prefix(t)):]), true)
			return 1
		}
	}
	switch {
	case f != nil:
		return r.longFlag(f, i, value, hasValue)
	case r.entry.style&abbreviates != 0:
		return r.abbreviated(i, name, value, hasValue)
	case r.entry.style&oneHyphen == 0 && (t == "--help" || t == "--version"):
		r.quits = true
		return 1
	}
	r.strange(i, name)
	return 1
}

// longName is how a long flag is filed.
func (r *reader) longName(name string) string {
	if r.entry.style&oneHyphen != 0 && strings.HasPrefix(name, "--") {
		return name[1:]
	}
	return name
}

// longFlag takes the arguments of a flag that was recognised.
func (r *reader) longFlag(f *flag, i int, value string, hasValue bool) int {
	switch {
	case hasValue && f.args == 0 && r.entry.style&oneHyphen != 0:
		r.use(f, i, Word{}, false) // -v=false
		return 1
	case hasValue && f.args != 1:
		r.strange(i, r.args[i].Text)
		return 1
	case hasValue:
		r.use(f, i, Literal(value), true)
		return 1
	case f.args == 0 || f.optional:
		r.use(f, i, Word{}, false)
		return 1
	}
	return 1 + r.following(f, i)
}

// following takes the words behind a flag as its arguments.
func (r *reader) following(f *flag, i int) int {
	if i+f.args >= len(r.args) {
		r.doubt("flag " + r.args[i].Text + " of " + r.entry.name + " has no argument")
		r.use(f, i, Word{}, false)
		return len(r.args) - 1 - i
	}
	for at := i + 1; at <= i+f.args; at++ {
		r.flagValue(at)
	}
	r.use(f, i, r.args[i+f.args], true)
	return f.args
}

// flagValue looks at a word that is the argument of a flag.
func (r *reader) flagValue(at int) {
	w := r.args[at]
	switch {
	case w.Known:
		r.suspect(at)
	case w.Many:
		r.doubt(w.Text + " may be more than one word")
	default:
		r.plain(at)
	}
}

// abbreviated takes a long flag that is cut short. If several begin that way,
// each of them counts: another version of the program may have fewer.
func (r *reader) abbreviated(i int, name, value string, hasValue bool) int {
	var only *flag
	several := false
	if len(name) > len("--") {
		for full, f := range r.entry.long {
			if strings.HasPrefix(full, name) && f != only {
				several = only != nil
				if several {
					break
				}
				only = f
			}
		}
	}
	if helps := name == "--help" || name == "--version"; helps && only == nil {
		r.quits = true
		return 1
	}
	switch {
	case only == nil:
		r.strange(i, name)
		return 1
	case !several:
		return r.longFlag(only, i, value, hasValue)
	}
	return r.ambiguous(i, name, value, hasValue)
}

// ambiguous uses every flag that begins with the name.
func (r *reader) ambiguous(i int, name, value string, hasValue bool) int {
	r.strange(i, name)
	for _, f := range r.entry.flags {
		for _, full := range f.names {
			if !strings.HasPrefix(full, name) {
				continue
			}
			v := Literal(value)
			if !hasValue && i+1 < len(r.args) {
				v = r.args[i+1]
			}
			r.use(f, i, v, f.args > 0 && (hasValue || i+1 < len(r.args)))
			break
		}
	}
	return 1
}

// shortFlag returns the flag of one letter.
func (r *reader) shortFlag(c byte) *flag {
	if f := r.entry.short.get(c); f != nil {
		return f
	}
	if c >= '0' && c <= '9' {
		return r.entry.number
	}
	return nil
}

// cluster takes letters behind one hyphen, from the byte at from on.
func (r *reader) cluster(i int, w Word, from int) int {
	t := w.Text
	if r.entry.style&clusters == 0 {
		r.strange(i, t)
		return 1
	}
	if f := r.entry.long[t]; f != nil { // such as -tt
		return r.longFlag(f, i, "", false)
	}
	if f := r.entry.prefixed(t); f != nil {
		r.use(f, i, Literal(t[len(f.prefix(t)):]), true)
		return 1
	}
	for at := from; at < len(t); at++ {
		f := r.shortFlag(t[at])
		switch {
		case f == nil:
			r.strange(i, "-"+t[at:])
			return 1
		case f == r.entry.number && f != r.entry.short.get(t[at]):
			end := at
			for end < len(t) && t[end] >= '0' && t[end] <= '9' {
				end++
			}
			r.use(f, i, Literal(t[at:end]), true)
			at = end - 1
		case f.args == 0:
			r.use(f, i, Word{}, false)
		case f.optional || at+1 < len(t) && f.args == 1:
			r.use(f, i, Literal(t[at+1:]), at+1 < len(t))
			return 1
		case at+1 < len(t):
			r.strange(i, t)
			return 1
		default:
			return 1 + r.following(f, i)
		}
	}
	return 1
}

// bundle takes the first word of tar and its kind: letters without a hyphen,
// whose arguments are the words that follow, in order.
func (r *reader) bundle(i int) int {
	t := r.args[i].Text
	taken := 1
	for at := 0; at < len(t); at++ {
		f := r.shortFlag(t[at])
		switch {
		case f == nil:
			r.strange(i, "-"+t[at:at+1])
		case f.args == 0 || f.optional:
			r.use(f, i, Word{}, false)
		case i+taken >= len(r.args):
			r.doubt("flag -" + t[at:at+1] + " of " + r.entry.name + " has no argument")
		default:
			r.flagValue(i + taken)
			r.use(f, i, r.args[i+taken], true)
			taken++
		}
	}
	return taken
}

// plus takes a word that begins with +.
func (r *reader) plus(i int) int {
	t := r.args[i].Text
	if f := r.entry.long[t]; f != nil {
		return r.longFlag(f, i, "", false)
	}
	r.use(r.entry.plus, i, Literal(t[1:]), true)
	return 1
}

// pair takes key=value where the program has such; 0 if this is none.
func (r *reader) pair(i int) int {
	t := r.args[i].Text
	at := strings.IndexByte(t, '=')
	if r.entry.style&pairs == 0 || at < 1 {
		return 0
	}
	f := r.entry.long[t[:at+1]]
	if f == nil {
		r.strange(i, t[:at+1])
		return 1
	}
	r.use(f, i, Literal(t[at+1:]), true)
	return 1
}

// prefixed returns the flag that is written with a star and that t begins with.
func (e *entry) prefixed(t string) *flag {
	for _, f := range e.prefixes {
		if f.prefix(t) != "" {
			return f
		}
	}
	return nil
}

// prefix is the part before the star of the name that t begins with.
func (f *flag) prefix(t string) string {
	for _, name := range f.names {
		if head, ok := strings.CutSuffix(name, "*"); ok && strings.HasPrefix(t, head) {
			return head
		}
	}
	return ""
}

// spellings are the names under which a deny may know the flags that were used: as they are
// written, and as they could have been. In a line of the table a letter that stands right
// before a word is the same flag (`-f --force`).
func (r *reader) spellings() (names []string) {
	for i := range r.uses {
		u := &r.uses[i]
		written := r.args[u.at].Text
		if !r.args[u.at].Known {
			written = r.args[u.at].Begin
		}
		for at, name := range u.flag.names {
			if !mayBe(written, name) {
				continue
			}
			from, to := u.flag.same(at)
			for _, other := range u.flag.names[from:to] {
				names = addName(names, other)
			}
		}
	}
	for _, line := range r.entry.means {
		names = meaning(names, line)
	}
	return names
}

// mayBe reports whether an argument has the flag in it: among its letters, or as its
// beginning where that is enough.
func mayBe(written, name string) bool {
	if strings.HasPrefix(written, "--") {
		written, _, _ = strings.Cut(written, "=")
		return strings.HasPrefix(name, written)
	}
	return isLetter(name) && strings.Contains(written, name[1:]) || written == name
}

func isLetter(name string) bool { return len(name) == 2 && name[0] == '-' && name[1] != '-' }

// same returns the names around that at a place which are the same flag.
func (f *flag) same(at int) (from, to int) {
	isWord := func(i int) bool { return i < len(f.names) && strings.HasPrefix(f.names[i], "--") }
	letter := func(i int) bool { return i >= 0 && i < len(f.names) && isLetter(f.names[i]) }
	sameLetter := func(i, j int) bool {
		return letter(i) && letter(j) && strings.EqualFold(f.names[i], f.names[j])
	}
	from, to = at, at+1
	if sameLetter(at, to) && isWord(to+1) { // -r of -r -R --recursive
		to++
	}
	if letter(at) && isWord(to) {
		to++
	}
	if isWord(at) && letter(at-1) {
		from--
	}
	if from > 0 && to > from+1 && sameLetter(from-1, from) {
		from--
	}
	return from, to
}

// meaning adds what one flag stands for, or the one that stands for all of several.
func meaning(names, line []string) []string {
	one, all := line[0], line[1:]
	if slices.Contains(names, one) {
		for _, name := range all {
			names = addName(names, name)
		}
		return names
	}
	for _, name := range all {
		if !slices.Contains(names, name) {
			return names
		}
	}
	return append(names, one)
}

func addName(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}
