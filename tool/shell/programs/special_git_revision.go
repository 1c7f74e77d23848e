package programs

import (
	"slices"
	"strings"
)

// gitRevisions gives the operands of log, diff, show and their kind a meaning: a
// revision, the path of a file inside one (REV:PATH), or a file.
func gitRevisions(r *reader) {
	if r.usesAny("--no-index") {
		r.assignOperands()
		return
	}
	r.gitLines()
	dashes := r.dashes()
	for _, at := range r.operands {
		r.gitOperand(at, at > dashes)
	}
}

// gitGrep is the same behind a pattern.
func gitGrep(r *reader) {
	if r.usesAny("--no-index", "--untracked") {
		r.assignOperands()
		return
	}
	operands := r.operands
	if r.drops == 0 {
		if len(operands) == 0 {
			r.doubt("git grep wants a pattern")
			return
		}
		r.plain(operands[0])
		operands = operands[1:]
	}
	dashes, before := r.dashes(), len(r.out.Effects)
	for _, at := range operands {
		r.gitOperand(at, at > dashes)
	}
	if len(r.out.Effects) == before {
		r.file(Read, Literal("."), -1, true, false) // it prints lines of any file
	}
}

// dashes is the index of the -- behind which all operands are paths, or beyond
// the last argument.
func (r *reader) dashes() int {
	for i := r.subAt + 1; i < len(r.args); i++ {
		if r.args[i].Known && r.args[i].Text == "--" && !slices.Contains(r.operands, i) {
			return i
		}
	}
	return len(r.args)
}

// gitOperand says what one operand reads.
func (r *reader) gitOperand(at int, isPath bool) {
	w := r.args[at]
	r.plain(at)
	if !isPath {
		if path, inside := gitBlob(w); inside {
			if path.Text != "" {
				r.file(Read, path, at, false, false)
			}
			return
		}
		if w.Known && gitRevision(w.Text) {
			return
		}
	}
	if path, any := gitPathspec(w); any {
		r.file(Read, path, at, false, false)
	}
}

// gitLines notes the files that -L RANGE:FILE names.
func (r *reader) gitLines() {
	for i := range r.uses {
		u := &r.uses[i]
		if u.flag.names[0] != "-L" || !u.given {
			continue
		}
		text := u.value.Text
		if at := strings.LastIndexByte(text, ':'); at > 0 {
			r.file(Read, Word{Text: text[at+1:], Known: u.value.Known}, u.at, false, false)
		}
	}
}

// gitBlob cuts REV:PATH, :PATH and :N:PATH at the colon that git cuts at: the
// first outside braces.
func gitBlob(w Word) (path Word, inside bool) {
	text := w.Text
	if !w.Known {
		text = w.Begin
	}
	depth := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			depth--
		case c == ':' && depth == 0:
			return gitBlobPath(w, text, i)
		}
	}
	return Word{}, false
}

func gitBlobPath(w Word, text string, colon int) (Word, bool) {
	if colon == 0 {
		switch rest := text[1:]; {
		case rest == "" || strings.ContainsAny(rest[:1], "/(!^"):
			return Word{}, false // a search, or the magic of a pathspec
		case len(rest) > 1 && rest[0] >= '0' && rest[0] <= '3' && rest[1] == ':':
			colon = 2
		}
	}
	if w.Known {
		return Literal(text[colon+1:]), true
	}
	return cutBegin(w, colon+1), true
}

// gitRevision reports whether a word can only be a revision, or is the usual name
// of one. All else may be a file, and counts as one.
func gitRevision(text string) bool {
	if strings.HasPrefix(text, "../") || strings.Contains(text, "/../") || text == ".." ||
		strings.HasSuffix(text, "/..") {
		return false
	}
	if strings.Contains(text, "..") || strings.ContainsAny(text, "~^") || strings.Contains(text, "@{") {
		return true
	}
	switch text {
	case "HEAD", "@", "FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "main", "master", "develop",
		"trunk", "stash":
		return true
	}
	for _, remote := range []string{"origin/", "upstream/", "refs/"} {
		if strings.HasPrefix(text, remote) && !strings.Contains(text, ".") {
			return true
		}
	}
	return isHex(text) || isVersion(text)
}

// isHex reports whether the text is an object's name, or begins one.
func isHex(text string) bool {
	return len(text) >= 7 && len(text) <= 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// isVersion reports whether the text is a tag such as v1.2.3.
func isVersion(text string) bool {
	return len(text) > 1 && text[0] == 'v' && strings.Trim(text[1:], "0123456789.") == ""
}

// gitPathspec returns the path of a pathspec. What stands for many files in git's
// own patterns is a pattern here too; one that only excludes has none.
func gitPathspec(w Word) (path Word, any bool) {
	if !w.Known {
		return w, true
	}
	text := w.Text
	if magic, ok := strings.CutPrefix(text, ":"); ok {
		switch {
		case strings.HasPrefix(magic, "("):
			words, rest, _ := strings.Cut(magic[1:], ")")
			if strings.Contains(words, "exclude") {
				return Word{}, false
			}
			text = rest
		case strings.HasPrefix(magic, "!"), strings.HasPrefix(magic, "^"):
			return Word{}, false
		default:
			text = strings.TrimLeft(magic, "/:")
		}
	}
	if text == "" {
		text = "."
	}
	if at := strings.IndexAny(text, "*?["); at >= 0 {
		return Word{Text: text, Begin: text[:at], Glob: true, Many: true}, true
	}
	return Literal(text), true
}

// gitPaths reads the operands of add, rm, restore and clean as pathspecs.
func gitPaths(r *reader) {
	kept := r.out.Effects[:0]
	for _, e := range r.out.Effects {
		if slices.Contains(r.operands, e.Arg) {
			path, any := gitPathspec(r.args[e.Arg])
			if !any {
				continue
			}
			e.What = r.inDir(path)
		}
		kept = append(kept, e)
	}
	r.out.Effects = kept
}

// gitFormats looks for formats that have git check signatures, which runs gpg,
// and for formats that the configuration names.
func gitFormats(r *reader) {
	for i := range r.uses {
		u := &r.uses[i]
		name := u.flag.names[0]
		if name != "--format" && name != "--pretty" || !u.given {
			continue
		}
		format := u.value.Text
		switch {
		case !u.value.Known:
			r.alarm(u.at, "the format is not known")
		case strings.Contains(format, "%G") || strings.Contains(format, "%(signature"):
			r.alarm(u.at, "the format runs gpg")
		case name == "--pretty" && !gitPretty(format):
			r.alarm(u.at, "the format is one of the configuration")
		}
	}
}

// gitPretty reports whether a format is one that git itself has.
func gitPretty(format string) bool {
	switch format {
	case "", "oneline", "short", "medium", "full", "fuller", "reference", "email", "mboxrd", "raw":
		return true
	}
	return strings.Contains(format, "%") || strings.HasPrefix(format, "format:") ||
		strings.HasPrefix(format, "tformat:")
}
