package interp

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// A seg is a piece of a word on its way through the expansions.
type seg struct {
	s    string
	kind segKind
}

type segKind uint8

const (
	segPlain  segKind = iota // as written: globbed, not split
	segQuoted                // neither globbed nor split
	segSplit                 // from an expansion without quotes: split, then globbed
	segBreak                 // a border between fields, from $@
)

// An expander expands one word.
type expander struct {
	s    *shell
	segs []seg
	// single is set where a word stays one string: assignments, [[ ]], case. "$@" is
	// then joined.
	single bool
}

func (x *expander) add(str string, kind segKind) {
	x.segs = append(x.segs, seg{str, kind})
}

// How the text around a part is quoted.
type quoting uint8

const (
	bare   quoting = iota
	double         // in "..."
	doc            // in a here-document
	braced         // the word of ${x:-word} in "..." or a here-document
	inner          // the word of ${x:-word} without quotes
)

func (q quoting) quotes() bool { return q == double || q == doc || q == braced }

// kind is how an expansion's result is marked.
func (q quoting) kind() segKind {
	if q.quotes() {
		return segQuoted
	}
	return segSplit
}

// assignLike says how far a word is one of name=value, whose tildes are expanded after
// = and every colon.
type assignLike uint8

const (
	noAssign    assignLike = iota
	wholeAssign            // the word is the value
	wordAssign             // if the word begins with name=
)

// fields expands words as the arguments of a command.
func (s *shell) fields(words []*syntax.Word) []string {
	var out []string
	for _, w := range words {
		s.word(w, func(f string) { out = append(out, f) })
	}
	return out
}

// word expands one word to any number of fields.
func (s *shell) word(w *syntax.Word, yield func(string)) {
	if lit := plainLit(w); lit != "" {
		yield(lit)
		return
	}
	total := 0
	counted := func(f string) {
		total += len(f) + 16
		s.r.bound(s, total)
		yield(f)
	}
	split := *w // SplitBraces replaces the parts
	if !s.opt.braceexpand || !hasBrace(w) || !syntax.SplitBraces(&split) {
		s.wordFields(w, counted)
		return
	}
	s.braces(&split, func(w *syntax.Word) {
		s.check()
		s.wordFields(joinNames(w), counted)
	})
}

// joinNames makes $x{a,b} into $xa and $xb: braces are expanded before names are read.
func joinNames(w *syntax.Word) *syntax.Word {
	for i := 0; i+1 < len(w.Parts); i++ {
		pe, ok := w.Parts[i].(*syntax.ParamExp)
		lit, ok2 := w.Parts[i+1].(*syntax.Lit)
		if !ok || !ok2 || !pe.Short || pe.Index != nil || !syntax.ValidName(pe.Param.Value) || lit.Value == "" ||
			!identChar(lit.Value[0]) {
			continue
		}
		n := 1
		for n < len(lit.Value) && identChar(lit.Value[n]) {
			n++
		}
		name, param, rest := *pe, *pe.Param, *lit
		param.Value += lit.Value[:n]
		name.Param = &param
		rest.Value = lit.Value[n:]
		w = &syntax.Word{Parts: slices.Concat(w.Parts[:i], []syntax.WordPart{&name, &rest}, w.Parts[i+2:])}
	}
	return w
}

func hasBrace(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok && strings.IndexByte(lit.Value, '{') >= 0 {
			return true
		}
	}
	return false
}

// plainLit returns a word that expands to itself, which is most of them.
func plainLit(w *syntax.Word) string {
	if len(w.Parts) != 1 {
		return ""
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	if !ok || strings.ContainsAny(lit.Value, "\\~{*?[") {
		return ""
	}
	return lit.Value
}

func (s *shell) wordFields(w *syntax.Word, yield func(string)) {
	x := &expander{s: s}
	x.word(w, wordAssign)
	pos := s.pos
	if len(w.Parts) > 0 && w.Pos().IsValid() {
		s.pos = w.Pos()
	}
	for _, field := range x.split() {
		s.globbed(field, yield)
	}
	s.pos = pos
}

// text expands a word to one string, without splitting and globbing.
func (s *shell) text(w *syntax.Word) string { return s.textAs(w, noAssign) }

func (s *shell) textAs(w *syntax.Word, as assignLike) string {
	if w == nil {
		return ""
	}
	if lit := plainLit(w); lit != "" {
		return lit
	}
	x := &expander{s: s, single: true}
	x.word(w, as)
	return x.join()
}

// document expands the body of a here-document.
func (s *shell) document(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	x := &expander{s: s, single: true}
	x.parts(w.Parts, doc)
	return x.join()
}

// pattern expands a word to a pattern, in which what was quoted is escaped.
func (s *shell) pattern(w *syntax.Word) string { return s.patternIn(w, bare) }

func (s *shell) patternIn(w *syntax.Word, q quoting) string {
	if w == nil {
		return ""
	}
	x := &expander{s: s, single: true}
	if q == bare {
		x.word(w, noAssign)
	} else {
		x.parts(w.Parts, q)
	}
	return patternText(x.segs)
}

func patternText(segs []seg) string {
	var sb strings.Builder
	for _, g := range segs {
		if g.kind == segQuoted {
			escapePattern(&sb, g.s)
		} else {
			sb.WriteString(g.s)
		}
	}
	return sb.String()
}

func escapePattern(sb *strings.Builder, s string) {
	for i := range len(s) {
		if strings.IndexByte(`*?[]\-!^()|+@#%/&`, s[i]) >= 0 {
			sb.WriteByte('\\')
		}
		sb.WriteByte(s[i])
	}
}

func (x *expander) join() string {
	if len(x.segs) == 1 && x.segs[0].kind != segBreak {
		return x.segs[0].s
	}
	var sb strings.Builder
	for _, g := range x.segs {
		if g.kind == segBreak {
			sb.WriteByte(' ')
		}
		sb.WriteString(g.s)
		x.s.r.bound(x.s, sb.Len())
	}
	return sb.String()
}

// split breaks the pieces into fields where an expansion gave a separator.
func (x *expander) split() [][]seg {
	var fields [][]seg
	var cur []seg
	has := false   // cur is a field, though perhaps an empty one
	blank := false // the last separator was white space, which takes a following one with it
	flush := func() {
		fields = append(fields, cur)
		cur, has = nil, false
	}
	ifs := x.s.ifs()
	for _, g := range x.segs {
		switch g.kind {
		case segBreak:
			if has {
				flush()
			}
			blank = false
		case segPlain, segQuoted:
			if g.s != "" || g.kind == segQuoted {
				cur, has, blank = append(cur, g), true, false
			}
		case segSplit:
			str := g.s
			start := 0
			put := func(end int) {
				if end > start {
					cur, has, blank = append(cur, seg{str[start:end], segSplit}), true, false
				}
			}
			for i := 0; i < len(str); {
				r, n := rune(str[i]), 1
				if r >= utf8.RuneSelf {
					r, n = utf8.DecodeRuneInString(str[i:])
				}
				if !strings.ContainsRune(ifs, r) || r == utf8.RuneError {
					i += n
					continue
				}
				put(i)
				switch {
				case r == ' ' || r == '\t' || r == '\n':
					if has {
						flush()
						blank = true
					}
				case has:
					flush()
					blank = false
				case blank:
					blank = false
				default:
					flush() // an empty field
				}
				i += n
				start = i
			}
			put(len(str))
		}
	}
	if has {
		flush()
	}
	return fields
}

// word expands all parts of a word that is not inside quotes.
func (x *expander) word(w *syntax.Word, as assignLike) {
	for i, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			x.part(part, bare)
			continue
		}
		str := lit.Value
		last := i == len(w.Parts)-1
		colons := as == wholeAssign
		if i == 0 {
			switch as {
			case wordAssign:
				if name, _, ok := strings.Cut(str, "="); ok && syntax.ValidName(strings.TrimSuffix(name, "+")) {
					at := strings.IndexByte(str, '=') + 1
					x.literal(str[:at], bare)
					x.tildes(str[at:], last, true)
					as = wholeAssign
					continue
				}
				x.tildes(str, last, false)
			default:
				x.tildes(str, last, colons)
			}
			continue
		}
		if colons && strings.Contains(str, ":~") {
			at := strings.IndexByte(str, ':') + 1
			x.literal(str[:at], bare)
			x.tildes(str[at:], last, true)
			continue
		}
		x.literal(str, bare)
	}
}

// tildes expands ~ at the start of a literal, and after its colons if it is part of
// an assignment.
func (x *expander) tildes(str string, last, colons bool) {
	for {
		x.tilde(&str, last, colons)
		at := -1
		if colons {
			at = strings.Index(str, ":~")
		}
		if at < 0 {
			x.literal(str, bare)
			return
		}
		x.literal(str[:at+1], bare)
		str = str[at+1:]
	}
}

func (x *expander) tilde(str *string, last, colons bool) {
	if !strings.HasPrefix(*str, "~") {
		return
	}
	stops := "/"
	if colons {
		stops = "/:"
	}
	end := strings.IndexAny(*str, stops)
	if end < 0 {
		if !last {
			return // ~"x" and ~$x stay
		}
		end = len(*str)
	}
	name := (*str)[1:end]
	home, ok := "", false
	switch {
	case strings.ContainsAny(name, `\`):
	case name == "":
		v, _ := x.s.find("HOME")
		if home, ok = v.scalar(); !ok {
			home, ok = x.s.homeOf("")
		}
	case name == "+":
		home, ok = x.s.dir, true
	case name == "-":
		home, ok = x.s.lookup("OLDPWD").scalar()
	default:
		if n, err := strconv.Atoi(name); err == nil {
			if stack := x.s.stack(); n >= 0 && n < len(stack) && name[0] != '-' {
				home, ok = stack[n], true
			}
		} else {
			home, ok = x.s.homeOf(name)
		}
	}
	if ok {
		x.add(home, segQuoted)
		*str = (*str)[end:]
	}
}

// literal adds text as it stands in the source, and removes its backslashes.
func (x *expander) literal(str string, q quoting) {
	kind := segPlain
	switch q {
	case double, doc, braced:
		kind = segQuoted
	case inner:
		kind = segSplit
	}
	if strings.IndexByte(str, '\\') < 0 {
		x.add(str, kind)
		return
	}
	if !q.quotes() {
		for {
			i := strings.IndexByte(str, '\\')
			if i < 0 || i == len(str)-1 {
				x.add(str, kind)
				return
			}
			if i > 0 {
				x.add(str[:i], kind)
			}
			_, n := utf8.DecodeRuneInString(str[i+1:])
			x.add(str[i+1:i+1+n], segQuoted)
			str = str[i+1+n:]
		}
	}
	special := "\\$`\""
	switch q {
	case doc:
		special = "\\$`"
	case braced:
		special = "\\$`\"}"
	}
	var sb strings.Builder
	for i := 0; i < len(str); i++ {
		if str[i] == '\\' && i+1 < len(str) {
			if str[i+1] == '\n' {
				i++
				continue
			}
			if strings.IndexByte(special, str[i+1]) >= 0 {
				i++
			}
		}
		sb.WriteByte(str[i])
	}
	x.add(sb.String(), kind)
}

func (x *expander) parts(parts []syntax.WordPart, q quoting) {
	for i, part := range parts {
		if lit, ok := part.(*syntax.Lit); ok && i == 0 && q == inner {
			str := lit.Value
			x.tilde(&str, len(parts) == 1, false)
			x.literal(str, q)
			continue
		}
		x.part(part, q)
	}
}

func (x *expander) part(part syntax.WordPart, q quoting) {
	switch part := part.(type) {
	case *syntax.Lit:
		x.literal(part.Value, q)
	case *syntax.SglQuoted:
		switch {
		case q.quotes() && part.Dollar:
			x.add("$'"+part.Value+"'", segQuoted)
		case q.quotes():
			// Between double quotes a single one is an ordinary character, and what
			// follows it is expanded.
			x.add("'", segQuoted)
			x.again(part.Value, q)
			x.add("'", segQuoted)
		case part.Dollar:
			x.add(ansiC(part.Value), segQuoted)
		default:
			x.add(part.Value, segQuoted)
		}
	case *syntax.DblQuoted:
		if len(part.Parts) == 1 {
			if pe, ok := part.Parts[0].(*syntax.ParamExp); ok {
				x.param(pe, double)
				return
			}
		}
		if len(part.Parts) == 0 || !onlyLists(part.Parts) {
			x.add("", segQuoted)
		}
		x.parts(part.Parts, double)
	case *syntax.ParamExp:
		x.param(part, q)
	case *syntax.CmdSubst:
		x.add(x.s.substitute(part), q.kind())
	case *syntax.ArithmExp:
		if part.Unsigned {
			x.s.unsupported("unsigned arithmetic", part.Pos())
		}
		x.add(strconv.FormatInt(x.s.arith(part.X), 10), q.kind())
	case *syntax.ProcSubst:
		if q.quotes() {
			x.s.unsupported("process substitution in quotes", part.Pos())
		}
		x.add(x.s.procSubst(part), segQuoted)
	case *syntax.ExtGlob:
		x.add(x.s.extGlob(part), segPlain)
	default:
		x.s.unsupported("a word part of another shell", part.Pos())
	}
}

// onlyLists reports whether quotes have nothing but "$@" and its kin in them, which
// may expand to no field at all.
func onlyLists(parts []syntax.WordPart) bool {
	return !slices.ContainsFunc(parts, func(p syntax.WordPart) bool {
		pe, ok := p.(*syntax.ParamExp)
		return !ok || pe.Length || !isList(pe)
	})
}

// again expands text that the parser took for a quoted string.
func (x *expander) again(text string, q quoting) {
	if !strings.ContainsAny(text, "$`\\") {
		x.add(text, segQuoted)
		return
	}
	word, err := newParser().Document(strings.NewReader(text))
	if err != nil {
		x.s.fail("%s: bad substitution", text)
	}
	if word == nil {
		return
	}
	defer x.s.from(&Source{Origin: Value, Text: text})()
	x.parts(word.Parts, q)
}

// extGlob returns an extended pattern, whose quotes are turned into backslashes.
func (s *shell) extGlob(g *syntax.ExtGlob) string {
	var sb strings.Builder
	sb.WriteString(g.Op.String())
	raw := g.Pattern.Value
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '\'', '"':
			end := strings.IndexByte(raw[i+1:], c)
			if end < 0 || c == '"' && strings.ContainsAny(raw[i+1:i+1+end], "$`\\") {
				s.unsupported("an expansion in an extended pattern", g.Pos())
			}
			escapePattern(&sb, raw[i+1:i+1+end])
			i += end + 1
		case '\\':
			sb.WriteByte(c)
			if i++; i < len(raw) {
				sb.WriteByte(raw[i])
			}
		case '$', '`':
			s.unsupported("an expansion in an extended pattern", g.Pos())
		default:
			sb.WriteByte(c)
		}
	}
	sb.WriteByte(')')
	return sb.String()
}

// braces expands {a,b} and {1..3} in a word that syntax.SplitBraces split.
func (s *shell) braces(w *syntax.Word, yield func(*syntax.Word)) {
	for i, part := range w.Parts {
		br, ok := part.(*syntax.BraceExp)
		if !ok {
			continue
		}
		each := func(parts ...syntax.WordPart) {
			s.braces(&syntax.Word{Parts: slices.Concat(w.Parts[:i], parts, w.Parts[i+1:])}, yield)
		}
		if !br.Sequence {
			for _, elem := range br.Elems {
				each(elem.Parts...)
			}
			return
		}
		from, to := br.Elems[0].Lit(), br.Elems[1].Lit()
		a, err1 := strconv.ParseInt(from, 10, 64)
		b, err2 := strconv.ParseInt(to, 10, 64)
		chars := err1 != nil || err2 != nil
		if chars {
			a, b = int64(from[0]), int64(to[0])
		}
		width := 0
		if !chars && (zeroPadded(from) || zeroPadded(to)) {
			width = max(len(from), len(to))
		}
		step := int64(1)
		if len(br.Elems) > 2 {
			n, _ := strconv.ParseInt(br.Elems[2].Lit(), 10, 64)
			if n = max(n, -n); n > 0 {
				step = n
			}
		}
		for n := a; ; {
			lit := strconv.FormatInt(n, 10)
			switch {
			case chars:
				lit = string(rune(n))
			case width > 0:
				sign := ""
				if n < 0 {
					sign, lit = "-", lit[1:]
				}
				lit = sign + strings.Repeat("0", max(0, width-len(sign)-len(lit))) + lit
			}
			each(&syntax.Lit{Value: lit})
			if a <= b {
				if b-n < step {
					return
				}
				n += step
			} else {
				if n-b < step {
					return
				}
				n -= step
			}
		}
	}
	yield(w)
}

func zeroPadded(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return len(s) > 1 && s[0] == '0'
}
