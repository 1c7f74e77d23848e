package programs

import "strings"

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
