package programs

import "strings"

// readSed says what a sed script does. A script is understood only if it is made of shapes
// that every sed reads in the same way, see [sedScript]; any other may write and read files
// and run commands, and is code that cannot be read.
func readSed(r *reader) {
	var script strings.Builder
	for i := range r.uses {
		if r.uses[i].flag == r.entry.short.get('e') {
			r.sedText(&script, r.uses[i].value, r.uses[i].at)
		}
	}
	if r.drops == 0 && len(r.operands) > 0 {
		r.sedText(&script, r.args[r.operands[0]], r.operands[0])
	}
	r.sedBackup()
	if r.out.Why != "" {
		return
	}
	read := sedScript{text: script.String()}
	if !read.parse() {
		r.doubt("the sed script is not of a plain shape that only reads and prints")
		r.opaque("the sed script is not of a plain shape that only reads and prints")
		r.spellSed()
		return
	}
	r.sedDoes(read)
}

// sedText adds a piece of script, each on a line of its own.
func (r *reader) sedText(script *strings.Builder, w Word, at int) {
	if !w.Known {
		r.spell(at)
		r.doubt("the sed script " + w.Text + " is only known when it runs")
	}
	script.WriteString(w.Text)
	script.WriteByte('\n')
}

// sedBackup notes the files that sed -i.bak keeps.
func (r *reader) sedBackup() {
	u := r.used("-i")
	if u == nil || !u.given || u.value.Text == "" {
		return
	}
	if !u.value.Known || strings.ContainsAny(u.value.Text, "*/") {
		r.doubt("the suffix " + u.value.Text + " is not understood")
		return
	}
	for k, at := range r.operands {
		if k == 0 && r.drops == 0 {
			continue
		}
		w := r.args[at]
		w.Text += u.value.Text
		r.file(Write, w, at, false, true)
	}
}

// sedDoes notes what the commands of a script do. They stand in the script, so
// that no flag can be spelled: the script itself must be.
func (r *reader) sedDoes(s sedScript) {
	for _, d := range s.did {
		switch d.verb {
		case read:
			r.file(Read, Literal(d.what), -1, false, false)
			continue
		case write:
			r.file(Write, Literal(d.what), -1, false, true)
		case run:
			r.runs(Run{IsScript: true, Script: Literal(d.what)})
		}
		r.spellSed()
	}
}

// spellSed marks the words that hold the script.
func (r *reader) spellSed() {
	for i := range r.uses {
		if r.uses[i].flag == r.entry.short.get('e') {
			r.spell(r.uses[i].at)
		}
	}
	if r.drops == 0 && len(r.operands) > 0 {
		r.spell(r.operands[0])
	}
}

// A sedDeed is what a command of a script does.
type sedDeed struct {
	verb verb
	what string
}

// A sedScript is read from the front; at is how far. It does not follow what this or that
// sed makes of a script, but takes only what GNU, BSD and busybox end at the same place:
//
//   - patterns without a newline, between delimiters that stand in no bracket expression;
//     brackets hold plain characters, classes and escaped letters;
//   - flags g, i, I, p, m, M and numbers;
//   - labels of letters and digits, ended by a semicolon, a brace or the end of the line.
//     Where a label goes on to the end of the line, fewer commands are left than we read;
//   - text of a, i and c that ends with its line, which no backslash ends;
//   - r, w and e with a plain name or command up to the end of the line;
//   - comments on lines of their own.
type sedScript struct {
	text string
	at   int
	did  []sedDeed
}

// parse reads all commands; false if the script has another shape.
func (s *sedScript) parse() bool {
	if !plainText(s.text) {
		return false
	}
	for {
		s.skip(" \t\n;")
		if s.at >= len(s.text) {
			return true
		}
		if s.peek() == '#' {
			if !s.comment() {
				return false
			}
			continue
		}
		if !s.addresses() || !s.command() {
			return false
		}
	}
}

// plainText reports whether a program's text has no control characters but tabs and
// newlines, and other letters than ASCII only where no encoding takes a sign behind them for
// a part of the letter.
func plainText(text string) bool {
	for i := range len(text) {
		c := text[i]
		switch {
		case c < ' ' && c != '\t' && c != '\n', c == 0x7f:
			return false
		case i > 0 && text[i-1] >= 0x80 && c < 0x80 && c >= 0x40 && !letter(c):
			return false
		}
	}
	return true
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func digit(c byte) bool { return c >= '0' && c <= '9' }

func (s *sedScript) skip(set string) {
	for s.at < len(s.text) && strings.IndexByte(set, s.text[s.at]) >= 0 {
		s.at++
	}
}

func (s *sedScript) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// number skips digits; false if there are none.
func (s *sedScript) number() bool {
	from := s.at
	s.skip("0123456789")
	return s.at > from
}

// comment skips a comment that is a line of its own.
func (s *sedScript) comment() bool {
	before := strings.TrimRight(s.text[:s.at], " \t")
	if before != "" && before[len(before)-1] != '\n' {
		return false
	}
	line, ok := s.line()
	return ok && !strings.HasSuffix(line, `\`)
}

// line takes what is left of the line, without its end.
func (s *sedScript) line() (string, bool) {
	line, _, ok := strings.Cut(s.text[s.at:], "\n")
	s.at += len(line)
	return line, ok
}

// addresses skips up to two addresses and an exclamation mark.
func (s *sedScript) addresses() bool {
	any, ok := s.address()
	if !ok {
		return false
	}
	s.skip(" \t")
	if any && s.peek() == ',' {
		s.at++
		s.skip(" \t")
		if c := s.peek(); c == '+' || c == '~' {
			s.at++
			ok = s.number()
		} else {
			any, ok = s.address()
			ok = ok && any
		}
		if !ok {
			return false
		}
		s.skip(" \t")
	}
	if s.peek() == '!' {
		s.at++
		s.skip(" \t")
	}
	return true
}

func (s *sedScript) address() (any, ok bool) {
	switch c := s.peek(); {
	case c == '$':
		s.at++
		return true, true
	case digit(c):
		s.number()
		if s.peek() == '~' {
			s.at++
			return true, s.number()
		}
		return true, true
	case c == '/':
		s.at++
	case c == '\\':
		s.at += 2
		if s.at > len(s.text) || !sedDelimiter(s.text[s.at-1]) {
			return true, false
		}
	default:
		return false, true
	}
	ok = s.pattern(s.text[s.at-1])
	if c := s.peek(); c == 'I' {
		s.at++
	}
	return true, ok
}

// sedDelimiter reports whether a character delimits patterns and means nothing else.
func sedDelimiter(c byte) bool { return c != 0 && strings.IndexByte("/|,#:@%!~+;", c) >= 0 }

// pattern skips a regular expression and the delimiter behind it.
func (s *sedScript) pattern(end byte) bool { return s.until(end, true) }

// replacement skips what stands there instead, and the delimiter.
func (s *sedScript) replacement(end byte) bool { return s.until(end, false) }

// until skips all up to a delimiter, and that; brackets says that it does not count in those.
func (s *sedScript) until(end byte, brackets bool) bool {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == end:
			s.at++
			return true
		case c == '\n':
			return false
		case c == '\\':
			if !s.escape() {
				return false
			}
		case c == '[' && brackets:
			n := bracket(s.text[s.at:], end)
			if n == 0 {
				return false
			}
			s.at += n
		default:
			s.at++
		}
	}
	return false
}

// escape skips a backslash and the character that it escapes. Those that a number or a
// further character may follow are not among them.
func (s *sedScript) escape() bool {
	if s.at+1 >= len(s.text) {
		return false
	}
	c := s.text[s.at+1]
	s.at += 2
	return c != '\n' && c < 0x80 && strings.IndexByte("cdox`", c) < 0
}

// bracket returns the length of a bracket expression at the front of a text; 0 if it is not
// certain where it ends. It has no delimiter in it.
func bracket(text string, end byte) int {
	i := 1
	if i < len(text) && text[i] == '^' {
		i++
	}
	if i < len(text) && text[i] == ']' {
		i++
	}
	for i < len(text) {
		switch c := text[i]; {
		case c == ']':
			return i + 1
		case c == end, c == '\n':
			return 0
		case c == '[':
			n := bracketClass(text[i:])
			if n == 0 {
				return 0
			}
			i += n
		case c == '\\':
			if i+1 >= len(text) || !letter(text[i+1]) && text[i+1] != '.' && text[i+1] != '-' || text[i+1] == end ||
				strings.IndexByte("cdox", text[i+1]) >= 0 {
				return 0
			}
			i += 2
		default:
			i++
		}
	}
	return 0
}

// bracketClass returns the length of [:name:].
func bracketClass(text string) int {
	if !strings.HasPrefix(text, "[:") {
		return 0
	}
	i := 2
	for i < len(text) && text[i] >= 'a' && text[i] <= 'z' {
		i++
	}
	if i == 2 || !strings.HasPrefix(text[i:], ":]") {
		return 0
	}
	return i + 2
}

// command reads one command behind its address.
func (s *sedScript) command() bool {
	c := s.peek()
	s.at++
	switch c {
	case '{':
		return true
	case '}', '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'F', 'z':
		return s.ends()
	case 'l', 'q', 'Q':
		s.skip(" \t")
		s.number()
		return s.ends()
	case 'a', 'i', 'c':
		return s.added()
	case ':', 'b', 't', 'T':
		s.skip(" \t")
		from := s.at
		for s.at < len(s.text) && (letter(s.text[s.at]) || digit(s.text[s.at]) || s.text[s.at] == '_') {
			s.at++
		}
		return (s.at > from || c != ':') && s.ends()
	case 'r', 'R':
		return s.file(read)
	case 'w', 'W':
		return s.file(write)
	case 'e':
		s.skip(" \t")
		line, ok := s.line()
		s.did = append(s.did, sedDeed{run, line})
		return ok && strings.TrimSpace(line) != "" && plainWords(line, " ")
	case 's':
		end := s.peek()
		s.at++
		return sedDelimiter(end) && s.pattern(end) && s.replacement(end) && s.flags()
	case 'y':
		end := s.peek()
		s.at++
		return sedDelimiter(end) && s.pattern(end) && s.replacement(end) && s.ends()
	}
	return false
}

// ends reports whether a command ends here.
func (s *sedScript) ends() bool {
	s.skip(" \t")
	return s.at >= len(s.text) || strings.IndexByte("\n;}", s.text[s.at]) >= 0
}

// added takes the text of a, i or c: on the same line, behind a backslash too, or on the
// line behind a\.
func (s *sedScript) added() bool {
	s.skip(" \t")
	if strings.HasPrefix(s.text[s.at:], "\\\n") {
		s.at += 2
	}
	line, ok := s.line()
	return ok && strings.TrimSpace(strings.TrimPrefix(line, `\`)) != "" && !strings.HasSuffix(line, `\`)
}

// file takes the name of a file, which goes on to the end of the line.
func (s *sedScript) file(v verb) bool {
	s.skip(" \t")
	name, ok := s.line()
	if !ok || name == "" || !plainWords(name, "") {
		return false
	}
	switch name {
	case "/dev/stdout", "/dev/stderr":
		return true
	case "/dev/stdin":
		if v == read {
			return true
		}
	}
	s.did = append(s.did, sedDeed{v, name})
	return true
}

// plainWords reports whether a text has only letters, digits, the signs of paths, and those
// of the set.
func plainWords(text, set string) bool {
	for i := range len(text) {
		if c := text[i]; !letter(c) && !digit(c) && strings.IndexByte("._/-"+set, c) < 0 {
			return false
		}
	}
	return true
}

// flags takes those of a substitution.
func (s *sedScript) flags() bool {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case strings.IndexByte("gpiImM", c) >= 0, digit(c):
			s.at++
		case c == 'w':
			s.at++
			return s.file(write)
		default:
			return s.ends()
		}
	}
	return true
}
