package interp

import (
	"regexp"
	"slices"
	"strconv"
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
	var opened []int // where the open groups begin
	start := true    // nothing before it that * could repeat
	atom := 0        // where what a repetition repeats begins
	again := false   // it is a repetition itself
	repeat := func(op string) {
		if again { // Go does not repeat a repetition, and reads a second ? as lazy
			text := sb.String()
			sb.Reset()
			sb.WriteString(text[:atom] + "(?:" + text[atom:] + ")")
		}
		sb.WriteString(op)
		again = true
	}
	for i := 0; i < len(re); i++ {
		c := re[i]
		if strings.IndexByte("*+?{", c) < 0 {
			if c != ')' {
				atom = sb.Len()
			}
			again = false
		}
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
			opened = append(opened, sb.Len())
			sb.WriteByte(c)
			start = true
			if i+1 < len(re) && re[i+1] == '?' {
				return "", false
			}
		case ')':
			if len(opened) == 0 {
				atom = sb.Len()
				sb.WriteString(`\)`)
				break
			}
			atom = opened[len(opened)-1]
			opened = opened[:len(opened)-1]
			sb.WriteByte(c)
			start = false
		case '|':
			sb.WriteByte(c)
			start = true
		case '*', '+', '?':
			if start {
				return "", false
			}
			repeat(string(c))
		case '{':
			end := strings.IndexByte(re[i:], '}')
			if start || end < 0 || !isInterval(re[i+1:i+end]) {
				return "", false
			}
			interval := re[i : i+end+1]
			if strings.HasPrefix(interval, "{,") {
				interval = "{0" + interval[1:]
			}
			for n := range strings.SplitSeq(interval[1:len(interval)-1], ",") {
				// Go repeats up to 1,000 times, and the C library up to 32,767 times.
				if n, _ := strconv.Atoi(n); n > 1000 && n <= 32767 {
					s.unsupported("more than 1,000 repetitions in a regular expression", s.pos)
				}
			}
			repeat(interval)
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
	return sb.String(), len(opened) == 0
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

var classNames = strings.Fields("alnum alpha blank cntrl digit graph lower print punct space upper xdigit")

// bracket reads a bracket expression and returns its length and Go's form of it.
func bracket(re string) (int, string) {
	p := patParser{src: []rune(re), i: 1}
	// A backslash is an ordinary character here.
	var plain []rune
	for i, r := range p.src {
		if r == '\\' || r == '!' && i == 1 {
			plain = append(plain, '\\')
		}
		plain = append(plain, r)
	}
	p.src = plain
	class := p.class()
	if class == nil {
		return 0, ""
	}
	for _, name := range class.names {
		if !slices.Contains(classNames, name) {
			return 0, ""
		}
	}
	for i := 0; i < len(class.ranges); i += 2 {
		if class.ranges[i] > class.ranges[i+1] {
			return 0, ""
		}
	}
	var sb strings.Builder
	class.expr(&sb)
	text := string(p.src[:p.i])
	return len(strings.ReplaceAll(strings.Replace(text, `[\!`, `[!`, 1), `\\`, `\`)), sb.String()
}
