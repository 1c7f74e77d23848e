package interp

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// regexOf expands the right side of =~. What is quoted matches itself.
func (s *shell) regexOf(w *syntax.Word) string {
	x := &expander{s: s, single: true}
	for i, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			x.part(part, bare)
			continue
		}
		// Backslashes belong to the regular expression.
		text := lit.Value
		if i == 0 {
			x.tilde(&text, len(w.Parts) == 1, false)
		}
		x.add(text, segPlain)
	}
	var sb strings.Builder
	for _, g := range x.segs {
		if g.kind == segQuoted {
			for i := range len(g.s) {
				if strings.IndexByte(`\.[]{}()*+?^$|`, g.s[i]) >= 0 {
					sb.WriteByte('\\')
				}
				sb.WriteByte(g.s[i])
			}
		} else {
			sb.WriteString(g.s)
		}
	}
	return sb.String()
}

// regexMatch matches a string and sets BASH_REMATCH. The status is 0, 1, or 2 for a bad
// expression.
func (s *shell) regexMatch(str, re string) int {
	expr, ok := s.goRegexp(re)
	if !ok {
		return 2
	}
	if s.opt.nocasematch {
		expr = "(?i)" + expr
	}
	wide := !s.utf8() || !utf8.ValidString(str)
	rx, err := regexp.Compile("(?s)" + expr)
	if err != nil {
		return 2
	}
	rx.Longest()
	view := str
	if wide {
		view = string(widen(str, true))
	}
	m := rx.FindStringSubmatch(view)
	if m == nil {
		s.setList("BASH_REMATCH", nil)
		return 1
	}
	for i := range m {
		m[i] = narrow(m[i], wide)
	}
	s.setList("BASH_REMATCH", m)
	return 0
}

// goRegexp turns a POSIX extended regular expression into one of Go.
func (s *shell) goRegexp(re string) (string, bool) {
	var sb strings.Builder
	depth := 0
	start := true // nothing before it that * could repeat
	for i := 0; i < len(re); i++ {
		c := re[i]
		switch c {
		case '\\':
			if i++; i == len(re) {
				return "", false
			}
			switch c := re[i]; {
			case strings.IndexByte("wWsSbB", c) >= 0:
				sb.WriteString(`\` + string(c))
			case c == '<' || c == '>':
				sb.WriteString(`\b`)
			case c == '`':
				sb.WriteString(`\A`)
			case c == '\'':
				sb.WriteString(`\z`)
			case c >= '1' && c <= '9':
				s.unsupported("a back reference in a regular expression", s.pos)
			default:
				_, n := utf8.DecodeRuneInString(re[i:])
				sb.WriteString(regexp.QuoteMeta(re[i : i+n]))
				i += n - 1
			}
			start = false
		case '[':
			n, class := bracket(re[i:])
			if n == 0 {
				return "", false
			}
			sb.WriteString(class)
			i += n - 1
			start = false
		case '(':
			depth++
			sb.WriteByte(c)
			start = true
			if i+1 < len(re) && re[i+1] == '?' {
				return "", false
			}
		case ')':
			if depth == 0 {
				sb.WriteString(`\)`)
				break
			}
			depth--
			sb.WriteByte(c)
			start = false
		case '|':
			sb.WriteByte(c)
			start = true
		case '*', '+', '?':
			if start {
				if c != '*' {
					return "", false
				}
				sb.WriteString(`\*`)
				start = false
				break
			}
			// Go reads a second ? as lazy; two repetitions are one.
			for i+1 < len(re) && strings.IndexByte("*+?", re[i+1]) >= 0 {
				i++
				if re[i] != c {
					c = '*'
				}
			}
			sb.WriteByte(c)
		case '{':
			end := strings.IndexByte(re[i:], '}')
			if start || end < 0 || !isInterval(re[i+1:i+end]) {
				sb.WriteString(`\{`)
				start = false
				break
			}
			interval := re[i : i+end+1]
			if strings.HasPrefix(interval, "{,") {
				interval = "{0" + interval[1:]
			}
			sb.WriteString(interval)
			i += end
		case '^', '$', '.':
			if c == '$' {
				sb.WriteString(`\z`)
			} else {
				sb.WriteByte(c)
			}
			start = c == '^'
		default:
			_, n := utf8.DecodeRuneInString(re[i:])
			sb.WriteString(regexp.QuoteMeta(re[i : i+n]))
			i += n - 1
			start = false
		}
	}
	return sb.String(), depth == 0
}

func isInterval(s string) bool {
	if s == "" || strings.Count(s, ",") > 1 {
		return false
	}
	for i := range len(s) {
		if s[i] != ',' && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return s != ","
}

// bracket reads a bracket expression and returns its length and Go's form of it.
func bracket(re string) (int, string) {
	p := patParser{src: []rune(re), i: 1}
	// A backslash is an ordinary character here.
	var plain []rune
	for _, r := range p.src {
		if r == '\\' {
			plain = append(plain, '\\')
		}
		plain = append(plain, r)
	}
	p.src = plain
	class := p.class()
	if class == nil {
		return 0, ""
	}
	var sb strings.Builder
	class.expr(&sb)
	text := string(p.src[:p.i])
	return len(strings.ReplaceAll(text, `\\`, `\`)), sb.String()
}
