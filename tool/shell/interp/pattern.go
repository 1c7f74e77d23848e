package interp

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A matcher is a compiled shell pattern. Most become regular expressions, which take
// linear time; !(...) has none and is matched by trying.
type matcher struct {
	lit   string // what a pattern without wildcards matches
	plain bool
	nodes []patNode
	fold  bool
	bytes bool // characters are bytes
	neg   bool // has !(...) somewhere

	whole, suffix, front, loose, shortSuffix, shortPrefix *regexp.Regexp
}

type patNode struct {
	op    byte // 'l' literal, '?', '*', '[' class, 'e' extended
	r     rune
	class *patClass
	ext   byte // ? * + @ !
	alts  [][]patNode
}

type patClass struct {
	neg    bool
	ranges []rune // pairs
	names  []string
}

const maxMatchers = 500

// compile returns the matcher for a pattern, in which a backslash quotes.
func (s *shell) compile(pat string, fold bool) *matcher {
	return s.compileAs(pat, fold, s.opt.extglob)
}

// compileAs says whether the pattern may be an extended one, as it always may in [[ ]].
func (s *shell) compileAs(pat string, fold, ext bool) *matcher {
	bytes := !s.utf8() || !utf8.ValidString(pat)
	key := fmt.Sprint(fold, bytes, ext, pat)
	if m := s.matchers[key]; m != nil {
		return m
	}
	if strings.Count(pat, "(") > 500 {
		s.limited("the pattern is nested too deeply")
	}
	m := &matcher{fold: fold, bytes: bytes}
	p := patParser{src: widen(pat, bytes), ext: ext}
	m.nodes = p.list(0)
	m.neg = hasNegation(m.nodes)
	m.plain = !fold
	var sb strings.Builder
	for _, n := range m.nodes {
		if n.op != 'l' {
			m.plain = false
			break
		}
		sb.WriteRune(n.r)
	}
	if m.plain {
		m.lit = narrow(sb.String(), bytes)
	}
	if s.matchers == nil || len(s.matchers) > maxMatchers {
		s.matchers = map[string]*matcher{}
	}
	s.matchers[key] = m
	return m
}

// widen makes every byte a character of its own, if characters are bytes.
func widen(s string, bytes bool) []rune {
	if !bytes {
		return []rune(s)
	}
	out := make([]rune, len(s))
	for i := range len(s) {
		out[i] = rune(s[i])
	}
	return out
}

func narrow(s string, bytes bool) string {
	if !bytes {
		return s
	}
	out := make([]byte, 0, len(s))
	for _, r := range s {
		out = append(out, byte(r))
	}
	return string(out)
}

type patParser struct {
	src []rune
	i   int
	ext bool
}

func (p *patParser) at(i int) rune {
	if i < len(p.src) {
		return p.src[i]
	}
	return -1
}

// list reads a pattern up to the end, or up to ) or | inside an extended one.
func (p *patParser) list(depth int) []patNode {
	var nodes []patNode
	for p.i < len(p.src) {
		c := p.src[p.i]
		if depth > 0 && (c == ')' || c == '|') {
			return nodes
		}
		if p.ext && strings.ContainsRune("?*+@!", c) && p.at(p.i+1) == '(' {
			if n, ok := p.extended(depth); ok {
				nodes = append(nodes, n)
				continue
			}
		}
		p.i++
		switch c {
		case '\\':
			if p.i < len(p.src) {
				c = p.src[p.i]
				p.i++
			}
			nodes = append(nodes, patNode{op: 'l', r: c})
		case '?':
			nodes = append(nodes, patNode{op: '?'})
		case '*':
			if len(nodes) == 0 || nodes[len(nodes)-1].op != '*' {
				nodes = append(nodes, patNode{op: '*'})
			}
		case '[':
			if class := p.class(); class != nil {
				nodes = append(nodes, patNode{op: '[', class: class})
			} else {
				nodes = append(nodes, patNode{op: 'l', r: '['})
			}
		default:
			nodes = append(nodes, patNode{op: 'l', r: c})
		}
	}
	return nodes
}

func (p *patParser) extended(depth int) (patNode, bool) {
	start := p.i
	n := patNode{op: 'e', ext: byte(p.src[p.i])}
	p.i += 2
	for {
		n.alts = append(n.alts, p.list(depth+1))
		switch p.at(p.i) {
		case '|':
			p.i++
		case ')':
			p.i++
			return n, true
		default: // not closed: ordinary characters
			p.i = start
			return n, false
		}
	}
}

// class reads a bracket expression after its [, or returns nil if it has no end.
func (p *patParser) class() *patClass {
	i := p.i
	class := &patClass{}
	if c := p.at(i); c == '!' || c == '^' {
		class.neg = true
		i++
	}
	for first := true; ; first = false {
		c := p.at(i)
		switch {
		case c < 0:
			return nil
		case c == ']' && !first:
			p.i = i + 1
			return class
		case c == '[' && strings.ContainsRune(":.=", p.at(i+1)):
			kind := p.at(i + 1)
			end := -1
			for j := i + 2; j+1 < len(p.src); j++ {
				if p.src[j] == kind && p.src[j+1] == ']' {
					end = j
					break
				}
			}
			if end < 0 {
				class.ranges = append(class.ranges, c, c)
				i++
				continue
			}
			name := string(p.src[i+2 : end])
			i = end + 2
			if kind == ':' {
				class.names = append(class.names, name)
				continue
			}
			if r := []rune(name); len(r) == 1 {
				class.ranges = append(class.ranges, r[0], r[0])
			}
			continue
		case c == '\\' && i+1 < len(p.src):
			i++
			c = p.src[i]
		}
		i++
		if p.at(i) == '-' && p.at(i+1) != ']' && p.at(i+1) >= 0 {
			to := p.at(i + 1)
			i += 2
			if to == '\\' && i < len(p.src) {
				to = p.src[i]
				i++
			}
			class.ranges = append(class.ranges, c, to)
			continue
		}
		class.ranges = append(class.ranges, c, c)
	}
}

func hasNegation(nodes []patNode) bool {
	for _, n := range nodes {
		if n.op == 'e' {
			if n.ext == '!' {
				return true
			}
			for _, alt := range n.alts {
				if hasNegation(alt) {
					return true
				}
			}
		}
	}
	return false
}

// wild reports whether a pattern can match anything but itself.
func wild(pat string, ext bool) bool {
	open := false
	for i := 0; i < len(pat); i++ {
		switch pat[i] {
		case '\\':
			i++
		case '*', '?':
			return true
		case '[':
			open = true
		case ']':
			if open {
				return true
			}
		case '+', '@', '!':
			if ext && i+1 < len(pat) && pat[i+1] == '(' {
				return true
			}
		}
	}
	return false
}

// expr returns the regular expression of a pattern, reversed if rev is set.
func expr(sb *strings.Builder, nodes []patNode, rev bool) {
	for i := range nodes {
		n := nodes[i]
		if rev {
			n = nodes[len(nodes)-1-i]
		}
		switch n.op {
		case 'l':
			sb.WriteString(regexp.QuoteMeta(string(n.r)))
		case '?':
			sb.WriteByte('.')
		case '*':
			sb.WriteString(".*")
		case '[':
			n.class.expr(sb)
		case 'e':
			sb.WriteString("(?:")
			for j, alt := range n.alts {
				if j > 0 {
					sb.WriteByte('|')
				}
				expr(sb, alt, rev)
			}
			sb.WriteByte(')')
			if n.ext != '@' {
				sb.WriteByte(n.ext)
			}
		}
	}
}

func (c *patClass) expr(sb *strings.Builder) {
	var in strings.Builder
	for _, name := range c.names {
		switch name {
		case "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
			"word", "xdigit":
			in.WriteString(unicodeClass(name))
		}
	}
	for i := 0; i < len(c.ranges); i += 2 {
		if from, to := c.ranges[i], c.ranges[i+1]; from <= to {
			in.WriteString(classRune(from))
			if from != to {
				in.WriteString("-" + classRune(to))
			}
		}
	}
	switch {
	case in.Len() == 0 && c.neg:
		sb.WriteByte('.')
	case in.Len() == 0:
		sb.WriteString(`[^\x00-\x{10FFFF}]`)
	case c.neg:
		sb.WriteString("[^" + in.String() + "]")
	default:
		sb.WriteString("[" + in.String() + "]")
	}
}

func classRune(r rune) string {
	if r < utf8.RuneSelf && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r > ' ' {
		return `\` + string(r)
	}
	return string(r)
}

func unicodeClass(name string) string {
	switch name {
	case "alpha":
		return `\pL`
	case "alnum":
		return `\pL\p{Nd}`
	case "lower":
		return `\p{Ll}`
	case "upper":
		return `\p{Lu}`
	case "word":
		return `\pL\p{Nd}_`
	case "punct":
		return `[:punct:]\pP\pS`
	}
	return "[:" + name + ":]"
}

func (m *matcher) regexp(cache **regexp.Regexp, before, after string, rev, longest bool) *regexp.Regexp {
	if *cache == nil {
		var sb strings.Builder
		sb.WriteString("(?s")
		if m.fold {
			sb.WriteByte('i')
		}
		sb.WriteString(")" + before + "(?:")
		expr(&sb, m.nodes, rev)
		sb.WriteString(")" + after)
		*cache = regexp.MustCompile(sb.String())
		if longest {
			(*cache).Longest()
		}
	}
	return *cache
}

// view returns the string as the regular expressions see it: if characters are bytes,
// each becomes the character of its number, and narrow leads back.
func (m *matcher) view(str string) (string, bool) {
	bytes := m.bytes || !utf8.ValidString(str)
	if !bytes {
		return str, false
	}
	for i := range len(str) {
		if str[i] >= utf8.RuneSelf {
			return string(widen(str, true)), true
		}
	}
	return str, false
}

// match reports whether the pattern matches the whole string.
func (m *matcher) match(s *shell, str string) bool {
	if m.plain {
		return str == m.lit
	}
	str, _ = m.view(str)
	if m.neg {
		return m.try(s, []rune(str))
	}
	return m.regexp(&m.whole, "^", `\z`, false, false).MatchString(str)
}

// trim removes the shortest or longest match at the start or the end.
func (m *matcher) trim(s *shell, str string, end, longest bool) string {
	if m.plain {
		if end {
			return strings.TrimSuffix(str, m.lit)
		}
		return strings.TrimPrefix(str, m.lit)
	}
	v, wide := m.view(str)
	if m.neg {
		return narrow(m.tryTrim(s, v, end, longest), wide)
	}
	switch {
	case end && longest: // the leftmost match that reaches the end
		if loc := m.regexp(&m.suffix, "", `\z`, false, true).FindStringIndex(v); loc != nil {
			v = v[:loc[0]]
		}
	case end: // as much as possible before it
		if loc := m.regexp(&m.shortSuffix, "^(.*)", `\z`, false, false).FindStringSubmatchIndex(v); loc != nil {
			v = v[:loc[3]]
		}
	case longest:
		if loc := m.regexp(&m.front, "^", "", false, true).FindStringIndex(v); loc != nil {
			v = v[loc[1]:]
		}
	default: // the same as the shortest end, read backwards
		back := reversed(v)
		if loc := m.regexp(&m.shortPrefix, "^(.*)", `\z`, true, false).FindStringSubmatchIndex(back); loc != nil {
			v = v[len(v)-loc[3]:]
		}
	}
	return narrow(v, wide)
}

func reversed(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

// replace replaces the first or every longest match. An empty piece of with stands for
// the match.
func (m *matcher) replace(s *shell, str string, anchor byte, all bool, with []string) string {
	v, wide := m.view(str)
	var sb strings.Builder
	put := func(match string) {
		for _, piece := range with {
			if piece == "" {
				sb.WriteString(narrow(match, wide))
			} else {
				sb.WriteString(piece)
			}
		}
		s.r.bound(s, sb.Len())
	}
	switch anchor {
	case '#':
		if loc := m.find(s, v, true); loc != nil {
			put(v[:loc[1]])
			sb.WriteString(narrow(v[loc[1]:], wide))
			return sb.String()
		}
		return str
	case '%':
		cut := m.trimFrom(s, v)
		if cut < 0 {
			return str
		}
		sb.WriteString(narrow(v[:cut], wide))
		put(v[cut:])
		return sb.String()
	}
	rest := v
	for rest != "" {
		s.check()
		loc := m.find(s, rest, false)
		if loc == nil || loc[0] == len(rest) && loc[1] == loc[0] {
			break
		}
		sb.WriteString(narrow(rest[:loc[0]], wide))
		put(rest[loc[0]:loc[1]])
		if loc[0] == loc[1] { // an empty match: go on after the next character
			_, n := utf8.DecodeRuneInString(rest[loc[0]:])
			sb.WriteString(narrow(rest[loc[0]:loc[0]+n], wide))
			loc[1] += n
		}
		rest = rest[loc[1]:]
		if !all {
			break
		}
	}
	if v == "" {
		if loc := m.find(s, "", true); loc != nil {
			put("")
		}
	}
	sb.WriteString(narrow(rest, wide))
	return sb.String()
}

// find returns the leftmost longest match, or the longest at the start.
func (m *matcher) find(s *shell, v string, atStart bool) []int {
	if m.plain && !m.bytes {
		at := strings.Index(v, m.lit)
		if at < 0 || atStart && at > 0 {
			if !strings.HasPrefix(v, m.lit) {
				return nil
			}
			at = 0
		}
		return []int{at, at + len(m.lit)}
	}
	if m.neg {
		return m.tryFind(s, v, atStart)
	}
	if atStart {
		return m.regexp(&m.front, "^", "", false, true).FindStringIndex(v)
	}
	return m.regexp(&m.loose, "", "", false, true).FindStringIndex(v)
}

// trimFrom returns where the longest match at the end begins, or -1.
func (m *matcher) trimFrom(s *shell, v string) int {
	if m.neg {
		rest := m.tryTrim(s, v, true, true)
		if len(rest) == len(v) && !m.try(s, nil) {
			return -1
		}
		return len(rest)
	}
	loc := m.regexp(&m.suffix, "", `\z`, false, true).FindStringIndex(v)
	if loc == nil {
		return -1
	}
	return loc[0]
}

// try matches by trying, for patterns that exclude something.
func (m *matcher) try(s *shell, str []rune) bool {
	t := trier{s: s, fold: m.fold}
	return t.seq(m.nodes, str, func(rest []rune) bool { return len(rest) == 0 })
}

func (m *matcher) tryTrim(s *shell, v string, end, longest bool) string {
	r := []rune(v)
	for i := range len(r) + 1 {
		n := i
		if longest {
			n = len(r) - i
		}
		if end {
			if m.try(s, r[len(r)-n:]) {
				return string(r[:len(r)-n])
			}
		} else if m.try(s, r[:n]) {
			return string(r[n:])
		}
	}
	return v
}

func (m *matcher) tryFind(s *shell, v string, atStart bool) []int {
	r := []rune(v)
	for i := range len(r) + 1 {
		if i > 0 && atStart {
			break
		}
		for j := len(r); j >= i; j-- {
			if m.try(s, r[i:j]) {
				at := len(string(r[:i]))
				return []int{at, at + len(string(r[i:j]))}
			}
		}
	}
	return nil
}

type trier struct {
	s     *shell
	fold  bool
	steps int
}

func (t *trier) seq(nodes []patNode, str []rune, then func([]rune) bool) bool {
	if t.steps++; t.steps&1023 == 0 {
		t.s.check()
	}
	if len(nodes) == 0 {
		return then(str)
	}
	n, rest := nodes[0], nodes[1:]
	next := func(str []rune) bool { return t.seq(rest, str, then) }
	switch n.op {
	case 'l':
		return len(str) > 0 && (str[0] == n.r || t.fold && unicode.ToLower(str[0]) == unicode.ToLower(n.r)) && next(str[1:])
	case '?':
		return len(str) > 0 && next(str[1:])
	case '[':
		return len(str) > 0 && n.class.has(str[0], t.fold) && next(str[1:])
	case '*':
		for i := len(str); i >= 0; i-- {
			if next(str[i:]) {
				return true
			}
		}
		return false
	}
	one := func(str []rune, then func([]rune) bool) bool {
		for _, alt := range n.alts {
			if t.seq(alt, str, then) {
				return true
			}
		}
		return false
	}
	switch n.ext {
	case '@':
		return one(str, next)
	case '?':
		return next(str) || one(str, next)
	case '*', '+':
		var more func(str []rune) bool
		more = func(before []rune) bool {
			return one(before, func(after []rune) bool {
				return next(after) || len(after) < len(before) && more(after)
			})
		}
		return n.ext == '*' && next(str) || more(str)
	default: // '!'
		for i := len(str); i >= 0; i-- {
			part := str[:i]
			if !one(part, func(rest []rune) bool { return len(rest) == 0 }) && next(str[i:]) {
				return true
			}
		}
		return false
	}
}

func (c *patClass) has(r rune, fold bool) bool {
	in := func(r rune) bool {
		for i := 0; i < len(c.ranges); i += 2 {
			if c.ranges[i] <= r && r <= c.ranges[i+1] {
				return true
			}
		}
		for _, name := range c.names {
			if classHas(name, r) {
				return true
			}
		}
		return false
	}
	ok := in(r) || fold && (in(unicode.ToLower(r)) || in(unicode.ToUpper(r)))
	return ok != c.neg
}

func classHas(name string, r rune) bool {
	switch name {
	case "alnum":
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	case "alpha":
		return unicode.IsLetter(r)
	case "ascii":
		return r < 128
	case "blank":
		return r == ' ' || r == '\t'
	case "cntrl":
		return unicode.IsControl(r)
	case "digit":
		return r >= '0' && r <= '9'
	case "graph":
		return unicode.IsGraphic(r) && !unicode.IsSpace(r)
	case "lower":
		return unicode.IsLower(r)
	case "print":
		return unicode.IsPrint(r)
	case "punct":
		return unicode.IsPunct(r) || unicode.IsSymbol(r)
	case "space":
		return unicode.IsSpace(r)
	case "upper":
		return unicode.IsUpper(r)
	case "word":
		return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
	case "xdigit":
		return strings.ContainsRune("0123456789abcdefABCDEF", r)
	}
	return false
}
