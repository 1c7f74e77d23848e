package programs

import "strings"

// readSed says what a sed script does: it may write and read files, and run
// commands. A script that is not known may do anything.
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
	// Versions differ in whether a bracket hides the delimiter: both readings count.
	read := sedScript{text: script.String(), brackets: true}
	if !read.parse() {
		r.doubt("the sed script is not understood")
		r.opaque("the sed script is not understood")
		return
	}
	r.sedDoes(read)
	other := sedScript{text: script.String()}
	if other.parse() && len(other.did) > len(read.did) {
		r.sedDoes(other)
	}
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
		case code:
			r.opaque("sed runs what it reads as a command")
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

// A sedScript is read from the front; at is how far.
type sedScript struct {
	text     string
	at       int
	brackets bool
	did      []sedDeed
}

// parse reads all commands; false if one is not understood.
func (s *sedScript) parse() bool {
	for {
		s.skip(" \t\n;}")
		if s.at >= len(s.text) {
			return true
		}
		if !s.address() || !s.command() {
			return false
		}
	}
}

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

// address skips up to two addresses and the exclamation marks behind them.
func (s *sedScript) address() bool {
	if !s.oneAddress() {
		return false
	}
	s.skip(" \t")
	if s.peek() == ',' {
		s.at++
		s.skip(" \t")
		s.skip("+~")
		if !s.oneAddress() {
			return false
		}
	}
	s.skip(" \t!")
	return true
}

func (s *sedScript) oneAddress() bool {
	switch c := s.peek(); {
	case c == '$':
		s.at++
	case c >= '0' && c <= '9':
		s.skip("0123456789~")
	case c == '/':
		s.at++
		if !s.delimited('/', true) {
			return false
		}
		s.skip("IM")
	case c == '\\':
		s.at += 2
		if s.at > len(s.text) || !s.delimited(s.text[s.at-1], true) {
			return false
		}
		s.skip("IM")
	}
	return true
}

// delimited skips to behind the next delimiter that nothing hides.
func (s *sedScript) delimited(end byte, regex bool) bool {
	if end == '\n' || end == '\\' {
		return false
	}
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == end:
			s.at++
			return true
		case c == '\\':
			s.at++
		case c == '\n' && regex:
			return false
		case c == '[' && regex && s.brackets:
			s.bracket()
		}
	}
	return false
}

// bracket skips to the end of a bracket expression, if it has one.
func (s *sedScript) bracket() {
	at := s.at + 1
	if at < len(s.text) && s.text[at] == '^' {
		at++
	}
	if at < len(s.text) && s.text[at] == ']' {
		at++
	}
	for ; at < len(s.text) && s.text[at] != '\n'; at++ {
		if s.text[at] == ']' {
			s.at = at
			return
		}
		if s.text[at] == '[' && at+1 < len(s.text) && strings.IndexByte(":.=", s.text[at+1]) >= 0 {
			end := strings.Index(s.text[at+2:], s.text[at+1:at+2]+"]")
			if end < 0 {
				return
			}
			at += 2 + end + 1
		}
	}
}
