package analysis

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// A piece is a part of a word after expansion.
type piece struct {
	text    string
	known   bool
	quoted  bool
	split   bool // comes from an expansion without quotes: it is split into words
	number  bool // made of digits
	numeric bool // a number for arithmetic, perhaps a negative one
	list    []programs.Word
	isList  bool // "$@": each element is a word of its own
}

// fields expands words as bash does for arguments: each becomes none, one or several.
func (w *walker) fields(dst []programs.Word, words []*syntax.Word, s *state) []programs.Word {
	for _, word := range words {
		if text, ok := plainText(word); ok {
			dst = append(dst, programs.Literal(text))
			continue
		}
		many, complete := w.expandBraces(word)
		if !complete {
			for _, one := range many {
				w.pieces(one.Parts, s) // for what runs inside
			}
			dst = append(dst, programs.Word{Text: w.source(word), Many: true})
			continue
		}
		for _, one := range many {
			dst = w.field(dst, one, word, s)
		}
	}
	return dst
}

// plainText returns the text of a word that expands to nothing but itself.
func plainText(word *syntax.Word) (string, bool) {
	if len(word.Parts) != 1 {
		return "", false
	}
	switch part := word.Parts[0].(type) {
	case *syntax.Lit:
		return part.Value, !strings.ContainsAny(part.Value, "\\*?[{~")
	case *syntax.SglQuoted:
		return part.Value, !part.Dollar
	}
	return "", false
}

// single expands a word that is not split: an assigned value, a here-string.
func (w *walker) single(word *syntax.Word, s *state) programs.Word {
	if word == nil {
		return programs.Literal("")
	}
	if text, ok := plainText(word); ok {
		return programs.Literal(text)
	}
	return w.joined(w.pieces(word.Parts, s), w.source(word))
}

// joined makes one word of pieces.
func (w *walker) joined(pieces []piece, written string) programs.Word {
	if len(pieces) == 1 && !pieces[0].known && !pieces[0].isList {
		return programs.Word{Text: written, Number: pieces[0].number}
	}
	var text strings.Builder
	for _, p := range pieces {
		if !p.known || p.isList || text.Len()+len(p.text) > maxValue {
			return programs.Word{Text: written, Begin: text.String()}
		}
		text.WriteString(p.text)
	}
	if !w.spend(text.Len()) {
		return programs.Word{Text: written}
	}
	return programs.Literal(text.String())
}

// field expands one word without braces into fields.
func (w *walker) field(dst []programs.Word, word, written *syntax.Word, s *state) []programs.Word {
	if v, ok := w.patternVariable(word, s); ok {
		return append(dst, v)
	}
	f := fielder{dst: dst, written: w.source(written), splits: w.splits(s)}
	pieces := w.pieces(word.Parts, s)
	bytes := 0
	for _, p := range pieces {
		bytes += len(p.text) + len(p.list)
	}
	if !w.spend(bytes) {
		return append(dst, programs.Word{Text: f.written, Many: true})
	}
	for _, p := range pieces {
		if len(pieces) > 1 && p.isList {
			p.known = false // what stands around it becomes part of its first and last word
		}
		f.add(p)
	}
	if f.end(); len(f.dst)-len(dst) > maxWords {
		return append(dst, programs.Word{Text: f.written, Many: true})
	}
	return f.dst
}

// patternVariable is a quoted variable that holds one of the names of a pattern, alone in
// its word.
func (w *walker) patternVariable(word *syntax.Word, s *state) (programs.Word, bool) {
	if len(word.Parts) != 1 {
		return programs.Word{}, false
	}
	q, ok := word.Parts[0].(*syntax.DblQuoted)
	if !ok || len(q.Parts) != 1 {
		return programs.Word{}, false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	if !ok || !isPlain(p) {
		return programs.Word{}, false
	}
	v, ok := w.lookup(p.Param.Value, s)
	return v.value, ok && v.value.Glob && v.from == s.folders.only()
}

// splits reports whether words are split at white space, as they are unless IFS says
// otherwise.
func (w *walker) splits(s *state) bool {
	v, ok := w.lookup("IFS", s)
	return !ok || v.value.Known && v.value.Text == " \t\n"
}

// A fielder puts pieces together and splits them into fields.
type fielder struct {
	dst     []programs.Word
	written string
	splits  bool

	text    strings.Builder
	pattern strings.Builder // text with quoted pattern characters escaped
	begun   bool            // the field exists, even if it is empty
	glob    bool            // has an active pattern character
	tricky  bool            // has a backslash from an expansion
	unknown bool
	begin   string
	many    bool
	pieces  int
	number  bool
}

func (f *fielder) add(p piece) {
	switch {
	case p.isList:
		f.list(p)
	case !p.known:
		if !f.unknown {
			f.unknown = true
			if !f.glob {
				f.begin = f.text.String()
			}
		}
		f.many = f.many || p.split
		f.number = p.number && f.pieces == 0 && f.text.Len() == 0
		f.begun = true
	case p.split:
		f.divide(p.text)
	default:
		f.write(p.text, p.quoted)
		f.begun = f.begun || p.quoted || p.text != ""
	}
	f.pieces++
	f.number = f.number && f.pieces == 1
}

// write appends text that is not split.
func (f *fielder) write(text string, quoted bool) {
	f.text.WriteString(text)
	if !strings.ContainsAny(text, `*?[]\`) {
		f.pattern.WriteString(text)
		return
	}
	for i := range len(text) {
		switch c := text[i]; c {
		case '*', '?', '[', ']':
			if quoted {
				f.pattern.WriteByte('\\')
			} else {
				f.glob = f.glob || c != ']'
			}
		case '\\':
			f.pattern.WriteByte('\\')
		}
		f.pattern.WriteByte(text[i])
	}
}

// divide appends the value of an expansion, split at white space.
func (f *fielder) divide(text string) {
	if !f.splits {
		f.unknown, f.many, f.begun = true, true, true
		return
	}
	for i := 0; i < len(text); {
		if strings.IndexByte(" \t\n", text[i]) >= 0 {
			f.end()
			i++
			continue
		}
		n := strings.IndexAny(text[i:], " \t\n")
		if n < 0 {
			n = len(text) - i
		}
		f.tricky = f.tricky || strings.IndexByte(text[i:i+n], '\\') >= 0
		f.write(text[i:i+n], false)
		f.begun = true
		i += n
	}
}

// list appends "$@" as far as it is known.
func (f *fielder) list(p piece) {
	if !p.known {
		f.unknown, f.many, f.begun = true, true, true
		return
	}
	f.dst = append(f.dst, p.list...)
}

// end closes a field.
func (f *fielder) end() {
	if !f.begun {
		return
	}
	text, pattern := f.text.String(), f.pattern.String()
	switch {
	case f.unknown:
		f.dst = append(f.dst, programs.Word{Text: f.written, Begin: f.begin, Many: f.many || f.glob, Number: f.number})
	case f.glob && f.tricky:
		f.dst = append(f.dst, programs.Word{Text: f.written, Many: true})
	case f.glob && isPattern(pattern):
		f.dst = append(f.dst, programs.Word{Text: pattern, Glob: true, Many: true, Begin: literalStart(pattern)})
	default:
		f.dst = append(f.dst, programs.Literal(text))
	}
	f.text.Reset()
	f.pattern.Reset()
	f.begun, f.glob, f.tricky, f.unknown, f.many, f.number, f.begin = false, false, false, false, false, false, ""
}

// unescape removes the backslashes of unquoted text. A piece is made for each stretch, since
// an escaped character is quoted.
func unescape(text string, add func(text string, quoted bool)) {
	for {
		i := strings.IndexByte(text, '\\')
		if i < 0 || i == len(text)-1 {
			if text != "" {
				add(text, false)
			}
			return
		}
		if i > 0 {
			add(text[:i], false)
		}
		_, size := utf8.DecodeRuneInString(text[i+1:])
		if escaped := text[i+1 : i+1+size]; escaped != "\n" {
			add(escaped, true)
		}
		text = text[i+1+size:]
	}
}

// unescapeQuoted removes the backslashes that mean something inside double quotes, or in
// a here-document, where a quote is plain.
func unescapeQuoted(text string, document bool) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			switch c := text[i+1]; {
			case c == '\n':
				i++
				continue
			case c == '$', c == '`', c == '\\', c == '"' && !document:
				i++
			}
		}
		out.WriteByte(text[i])
	}
	return out.String()
}

// ansiEscapes are those of $'…' that stand for one character.
var ansiEscapes = map[byte]byte{
	'a': 7, 'b': 8, 'e': 27, 'E': 27, 'f': 12, 'n': '\n', 'r': '\r', 't': '\t', 'v': 11,
	'\\': '\\', '\'': '\'', '"': '"', '?': '?',
}

// ansiText decodes $'…'. It reports false for what is better left unknown.
func ansiText(text string) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		i++
		c := text[i]
		if plain, ok := ansiEscapes[c]; ok {
			out.WriteByte(plain)
			continue
		}
		var r rune
		var n int
		switch {
		case c >= '0' && c <= '7':
			r, n = radix(text[i:], 8, 3)
			i--
		case c == 'x':
			r, n = radix(text[i+1:], 16, 2)
		case c == 'u':
			r, n = radix(text[i+1:], 16, 4)
		case c == 'U':
			r, n = radix(text[i+1:], 16, 8)
		default: // also \c, whose rules are odd
			return "", false
		}
		byName := c == 'u' || c == 'U' // beyond ASCII the locale decides
		if n == 0 || r <= 0 || r > 0xff || byName && r > 0x7f {
			return "", false
		}
		i += n
		out.WriteByte(byte(r))
	}
	return out.String(), true
}

// radix reads up to most digits, and returns the number and how many there were.
func radix(text string, base, most int) (value rune, n int) {
	for n < len(text) && n < most {
		d := digitValue(text[n])
		if d < 0 || d >= base {
			break
		}
		value = value*rune(base) + rune(d)
		n++
	}
	return value, n
}

func digitValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
