package programs

import (
	"slices"
	"strings"
)

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
