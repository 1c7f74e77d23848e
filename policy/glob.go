package policy

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// A glob matches a whole text with * (any run of characters), ? (one
// character) and [a-z], [!a-z] (one of a set). It is a list of runs with a star
// between each two.
type glob struct {
	runs []run
}

// A run is what stands between two stars. Most runs are plain text, which is
// matched with the fast functions of package strings.
type run struct {
	plain bool
	text  string // if plain
	ones  []one  // otherwise
}

// One matches a single character.
type one struct {
	any    bool
	negate bool
	ranges []runeRange
}

type runeRange struct{ lo, hi rune }

func (o one) matches(r rune) bool {
	if o.any {
		return true
	}
	for _, x := range o.ranges {
		if x.lo <= r && r <= x.hi {
			return !o.negate
		}
	}
	return o.negate
}

var (
	errUnbalanced = errors.New("unbalanced [ or ]")
	errEmptySet   = errors.New("an empty [] set")
	errBadRange   = errors.New("a range in [] that runs backwards")
	errTrailing   = errors.New(`a \ with nothing after it`)
)

// compileGlob parses a glob. With escapes, a backslash makes the next character
// plain; without, it is a character like any other.
func compileGlob(pattern string, escapes bool) (glob, error) {
	g := globParser{rest: pattern, escapes: escapes}
	if err := g.parse(); err != nil {
		return glob{}, err
	}
	return glob{runs: g.runs}, nil
}

type globParser struct {
	rest    string
	escapes bool
	runs    []run
	current []one
	plain   strings.Builder
	special bool // the current run is more than plain text
	starred bool // the last thing read was a star
}

func (g *globParser) parse() error {
	for g.rest != "" {
		r, n := utf8.DecodeRuneInString(g.rest)
		g.rest = g.rest[n:]
		if r != '*' {
			g.starred = false
		}
		switch {
		case r == '*':
			g.star()
		case r == '?':
			g.add(one{any: true})
		case r == '[':
			if err := g.set(); err != nil {
				return err
			}
		case r == ']':
			return errUnbalanced
		case r == '\\' && g.escapes:
			if g.rest == "" {
				return errTrailing
			}
			r, n := utf8.DecodeRuneInString(g.rest)
			g.rest = g.rest[n:]
			g.char(r)
		default:
			g.char(r)
		}
	}
	g.flush()
	return nil
}

func (g *globParser) star() {
	if !g.starred {
		g.flush()
	}
	g.starred = true
}

func (g *globParser) char(r rune) {
	if g.special {
		g.current = append(g.current, just(r))
		return
	}
	g.plain.WriteRune(r)
}

func just(r rune) one { return one{ranges: []runeRange{{r, r}}} }

// add makes the current run one of single characters, if it is not yet.
func (g *globParser) add(o one) {
	if !g.special {
		g.special = true
		for _, r := range g.plain.String() {
			g.current = append(g.current, just(r))
		}
	}
	g.current = append(g.current, o)
}

func (g *globParser) flush() {
	if g.special {
		g.runs = append(g.runs, run{ones: g.current})
	} else {
		g.runs = append(g.runs, run{plain: true, text: g.plain.String()})
	}
	g.current, g.special = nil, false
	g.plain.Reset()
}

func (g *globParser) set() error {
	var o one
	if g.rest != "" && (g.rest[0] == '!' || g.rest[0] == '^') {
		o.negate = true
		g.rest = g.rest[1:]
	}
	end := strings.IndexByte(g.rest, ']')
	if end < 0 {
		return errUnbalanced
	}
	chars := []rune(g.rest[:end])
	g.rest = g.rest[end+1:]
	if len(chars) == 0 {
		return errEmptySet
	}
	for i := 0; i < len(chars); i++ {
		x := runeRange{chars[i], chars[i]}
		if i+2 < len(chars) && chars[i+1] == '-' {
			x.hi = chars[i+2]
			i += 2
		}
		if x.lo > x.hi {
			return errBadRange
		}
		if x.lo == '[' || x.hi == '[' {
			return errUnbalanced
		}
		o.ranges = append(o.ranges, x)
	}
	g.add(o)
	return nil
}

// literal returns the only text that the glob matches, if there is just one.
func (g glob) literal() (string, bool) {
	if len(g.runs) == 1 && g.runs[0].plain {
		return g.runs[0].text, true
	}
	return "", false
}

// plainTexts appends texts that stand in everything that the glob matches.
func (g glob) plainTexts(texts []string) []string {
	for _, r := range g.runs {
		if r.plain {
			texts = append(texts, r.text)
		}
	}
	return texts
}

func (g glob) match(s string) bool {
	if len(g.runs) == 0 {
		return false
	}
	first, last := g.runs[0], g.runs[len(g.runs)-1]
	n, ok := first.prefix(s)
	if !ok {
		return false
	}
	if len(g.runs) == 1 {
		return n == len(s)
	}
	s = s[n:]
	for _, r := range g.runs[1 : len(g.runs)-1] {
		end, ok := r.find(s)
		if !ok {
			return false
		}
		s = s[end:]
	}
	return last.suffix(s)
}

// prefix reports how many bytes of s the run takes at its start.
func (r run) prefix(s string) (n int, ok bool) {
	if r.plain {
		return len(r.text), strings.HasPrefix(s, r.text)
	}
	for _, o := range r.ones {
		c, size := utf8.DecodeRuneInString(s[n:])
		if size == 0 || !o.matches(c) {
			return 0, false
		}
		n += size
	}
	return n, true
}

// find returns the end of the first place where the run fits.
func (r run) find(s string) (end int, ok bool) {
	if r.plain {
		i := strings.Index(s, r.text)
		return i + len(r.text), i >= 0
	}
	for i := 0; i <= len(s); {
		if n, ok := r.prefix(s[i:]); ok {
			return i + n, true
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += max(size, 1)
	}
	return 0, false
}

// suffix reports whether the run fits at the very end of s.
func (r run) suffix(s string) bool {
	if r.plain {
		return strings.HasSuffix(s, r.text)
	}
	start := len(s)
	for range r.ones {
		_, size := utf8.DecodeLastRuneInString(s[:start])
		if size == 0 {
			return false
		}
		start -= size
	}
	n, ok := r.prefix(s[start:])
	return ok && n == len(s)-start
}

// escapeGlob makes text mean itself in a glob whose backslash escapes.
func escapeGlob(text string) string { return globEscaper.Replace(text) }

var globEscaper = strings.NewReplacer(
	`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`,
)
