package subset

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of a text that is read.
const (
	maxLength = 64 << 10
	maxDepth  = 40
)

// Read reads a text that the shell would run with -c. The error is an [*Outside].
func Read(text string, shell Shell) (commands []Command, err error) {
	r := &reader{text: text, shell: shell, line: 1}
	defer func() {
		if o, ok := recover().(*Outside); ok {
			commands, err = nil, o
		}
	}()
	r.gate()
	if end := r.list(); end != "" {
		r.outside("an unexpected %s", end)
	}
	r.take()
	if r.number {
		r.noCode()
	}
	return r.out, nil
}

// A reader stands at a byte of a text. What is outside the subset ends it with a panic that
// only [Read] sees.
type reader struct {
	text  string
	pos   int
	shell Shell
	depth int

	out     []Command
	before  []string  // what came since the last entry
	pending []hereDoc // here-documents whose body begins with the next line
	inside  int       // how many substitutions are open
	number  bool      // a value is used as a number

	line, counted int // the line at byte counted
}

// A hereDoc is a here-document whose body is still to come.
type hereDoc struct {
	command, redir int // where the body belongs
	end            string
	tabs           bool // <<-
	plain          bool // the delimiter was not quoted
}

func (r *reader) outside(format string, args ...any) {
	panic(&Outside{Construct: fmt.Sprintf(format, args...), Line: r.at()})
}

// at is the line of the reader.
func (r *reader) at() int {
	pos := min(r.pos, len(r.text))
	if r.counted <= pos {
		r.line += strings.Count(r.text[r.counted:pos], "\n")
	} else {
		r.line = 1 + strings.Count(r.text[:pos], "\n")
	}
	r.counted = pos
	return r.line
}

// gate refuses what no construct may have.
func (r *reader) gate() {
	switch {
	case r.shell < Bash || r.shell > Zsh:
		r.outside("an unknown shell")
	case len(r.text) > maxLength:
		r.outside("a text of more than %d bytes", maxLength)
	case !utf8.ValidString(r.text):
		r.outside("text that is not UTF-8")
	}
	for i := range len(r.text) {
		if c := r.text[i]; c < ' ' && c != '\t' && c != '\n' || c == 0x7f {
			r.pos = i
			r.outside("the control character U+%04X", c)
		}
	}
}

// peek is the byte at a distance, or 0 behind the end. The gate has refused real NULs.
func (r *reader) peek(n int) byte {
	if i := r.pos + n; i >= 0 && i < len(r.text) {
		return r.text[i]
	}
	return 0
}

func (r *reader) has(prefix string) bool { return strings.HasPrefix(r.text[r.pos:], prefix) }

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// ends reports whether a byte ends a word.
func ends(c byte) bool { return c == 0 || strings.IndexByte(" \t\n;&|<>()", c) >= 0 }

// token notes an operator or reserved word.
func (r *reader) token(s string) { r.before = append(r.before, s) }

// take begins an entry, and returns its place.
func (r *reader) take() int {
	r.out = append(r.out, Command{Line: r.at(), Before: strings.Join(r.before, " ")})
	r.before = r.before[:0]
	return len(r.out) - 1
}

// blanks skips spaces, tabs, and line ends that a backslash hides. Such a line end stands
// between blanks and a word: elsewhere, shells differ about what it joins.
func (r *reader) blanks() {
	for {
		switch {
		case isBlank(r.peek(0)):
			r.pos++
		case r.has("\\\n"):
			if !isBlank(r.peek(-1)) && r.peek(-1) != '\n' {
				r.outside("a continued line without a blank before the backslash")
			}
			if len(r.pending) > 0 {
				r.outside("a continued line between a here-document and its body")
			}
			r.pos += 2
			rest := strings.TrimLeft(r.text[r.pos:], " \t")
			if rest == "" || rest[0] == '\n' || rest[0] == '#' {
				r.outside("a continued line with nothing after it")
			}
		default:
			return
		}
	}
}

// newline skips a line end and reads the here-documents that begin behind it.
func (r *reader) newline() {
	r.pos++
	pending := r.pending
	r.pending = nil
	for _, doc := range pending {
		r.body(doc)
	}
}

// lines skips blanks and line ends, and comments that have a line of their own or follow a
// blank.
func (r *reader) lines(comments bool) {
	for {
		r.blanks()
		switch {
		case r.peek(0) == '\n':
			r.newline()
		case r.peek(0) == '#' && comments:
			r.comment()
		default:
			return
		}
	}
}

func (r *reader) comment() {
	if r.pos > 0 && !isBlank(r.peek(-1)) && r.peek(-1) != '\n' {
		r.outside("a # that may begin a comment")
	}
	if r.inside > 0 {
		r.outside("a comment inside $(…)")
	}
	n := strings.IndexByte(r.text[r.pos:], '\n')
	if n < 0 {
		n = len(r.text) - r.pos
	}
	if strings.HasSuffix(r.text[r.pos:r.pos+n], "\\") {
		r.outside("a comment that ends in a backslash")
	}
	r.pos += n
}

// body reads the body of a here-document, whole lines up to its delimiter.
func (r *reader) body(doc hereDoc) {
	var b strings.Builder
	for {
		n := strings.IndexByte(r.text[r.pos:], '\n')
		last := n < 0
		if last {
			n = len(r.text) - r.pos
		}
		line := r.text[r.pos : r.pos+n]
		if doc.tabs {
			line = strings.TrimLeft(line, "\t")
		}
		if line == doc.end {
			r.pos += n
			if !last {
				r.pos++
			}
			r.out[doc.command].Redirs[doc.redir].Body = b.String()
			return
		}
		if last {
			r.outside("a here-document without its end %s", doc.end)
		}
		if doc.plain && strings.ContainsAny(line, "$`\\") {
			r.outside("a here-document with expansions: quote its delimiter")
		}
		b.WriteString(line)
		b.WriteByte('\n')
		r.pos += n + 1
	}
}

// reserved are the words that mean something where a command begins. Those with true are in
// the subset.
var reserved = map[string]bool{
	"if": true, "then": true, "elif": true, "else": true, "fi": true, "for": true, "in": true,
	"while": true, "until": true, "do": true, "done": true, "{": true, "}": true, "!": true,
	"case": true, "esac": true, "time": true, "[[": true,
	"]]": false, "function": false, "select": false, "coproc": false, "foreach": false, "end": false, "repeat": false, "nocorrect": false,
}

// keyword is the reserved word at the reader, or "".
func (r *reader) keyword() string {
	n := 0
	for !ends(r.peek(n)) && n < 10 {
		n++
	}
	word := r.text[r.pos : r.pos+n]
	if _, ok := reserved[word]; !ok || !ends(r.peek(n)) {
		return ""
	}
	return word
}

// list reads commands up to one of the words or ;;, a closing parenthesis or the end of the
// text, and returns which; all but the parenthesis is skipped.
func (r *reader) list(until ...string) string {
	r.depth++
	if r.depth > maxDepth {
		r.outside("more than %d commands inside each other", maxDepth)
	}
	defer func() { r.depth-- }()
	for n, background := 0, false; ; n++ {
		r.lines(true)
		end, stop := "", false
		switch word := r.keyword(); {
		case slices.Contains(until, word):
			end, stop = word, true
		case r.has(";;") && slices.Contains(until, ";;"):
			end, stop = ";;", true
		case r.peek(0) == ')':
			end, stop = ")", true
		case r.pos == len(r.text):
			stop = true
		}
		if stop {
			if n == 0 && end != ";;" {
				r.outside("nothing where a command is needed")
			}
			if end != ")" {
				r.pos += len(end)
			}
			return end
		}
		if n > 0 && !background {
			r.token(";")
		}
		r.andOr()
		background = r.separator()
	}
}

// separator skips what ends a command in a list, and reports whether the command runs in the
// background.
func (r *reader) separator() bool {
	r.blanks()
	switch c, next := r.peek(0), r.peek(1); {
	case c == 0 || c == '\n' || c == ')' || c == '#' || c == ';' && next == ';':
		return false // the list looks at it
	case c == ';' && next != '&' && next != '|':
		r.pos++
		return false
	case c == '&' && (next == 0 || isBlank(next) || next == '\n' || next == ')'):
		r.pos++
		r.token("&")
		return true
	case c == '&' || c == ';':
		r.outside("the operator %c%c", c, next)
	case c == '(':
		r.outside("a parenthesis in or after a word")
	}
	r.outside("a word right after a group, loop or condition")
	return false
}

func (r *reader) andOr() {
	r.pipeline()
	for r.blanks(); r.has("&&") || r.has("||"); r.blanks() {
		r.token(r.text[r.pos : r.pos+2])
		r.pos += 2
		r.lines(false)
		r.pipeline()
	}
}

func (r *reader) pipeline() {
	switch word := r.keyword(); word {
	case "time":
		if r.shell == Dash {
			r.outside("time, a program for dash")
		}
		fallthrough
	case "!":
		r.open(word)
		r.blanks()
		if c := r.peek(0); ends(c) && c != '(' || c == '-' || c == '#' || r.keyword() == "!" || r.keyword() == "time" {
			r.outside("%s without a command", word)
		}
	}
	first := len(r.out)
	r.command()
	for r.blanks(); r.peek(0) == '|' && r.peek(1) != '|'; r.blanks() {
		if r.peek(1) == '&' {
			r.outside("the operator |&")
		}
		if r.shell == Zsh {
			r.noOutput(first)
		}
		first = len(r.out)
		r.token("|")
		r.pos++
		r.lines(false)
		r.command()
	}
}

// noOutput refuses redirected output before a pipe: zsh writes to both.
func (r *reader) noOutput(from int) {
	for _, c := range r.out[from:] {
		for _, redir := range c.Redirs {
			if redir.Fd != "2" && strings.Contains(redir.Op, ">") {
				r.outside("redirected output before a pipe, which zsh writes to both")
			}
		}
	}
}

// command reads one simple or compound command.
func (r *reader) command() {
	word := r.keyword()
	if r.peek(0) == '(' {
		word = "("
	}
	switch word {
	case "":
		if n := r.definition(); n > 0 {
			r.function(n)
			return
		}
		r.simple()
		return
	case "(":
		r.subshell()
	case "{":
		r.open("{")
		r.closing("}", r.list("}"))
	case "if":
		r.open("if")
		r.closing("then", r.list("then"))
		end := r.list("elif", "else", "fi")
		for end == "elif" {
			r.token("elif")
			r.closing("then", r.list("then"))
			end = r.list("elif", "else", "fi")
		}
		if end == "else" {
			r.token("else")
			end = r.list("fi")
		}
		r.closing("fi", end)
	case "while", "until":
		r.open(word)
		r.closing("do", r.list("do"))
		r.closing("done", r.list("done"))
	case "for":
		r.loop()
		r.closing("done", r.list("done"))
	case "case":
		r.cases()
	case "[[":
		r.test()
	default:
		if reserved[word] {
			r.outside("an unexpected %s", word)
		}
		r.outside("%s", word)
	}
	r.after()
}

// open skips a reserved word that a blank must follow.
func (r *reader) open(word string) {
	r.token(word)
	r.pos += len(word)
	if c := r.peek(0); !isBlank(c) && c != '\n' {
		r.outside("%s without a blank after it", word)
	}
}

// closing notes a reserved word that must come, and the one that did.
func (r *reader) closing(want, got string) {
	if want != got {
		r.outside("a missing %s", want)
	}
	r.token(got)
}

func (r *reader) subshell() {
	if r.peek(1) == '(' {
		r.outside("((")
	}
	outer := r.pending
	r.pending = nil
	r.token("(")
	r.pos++
	begin := r.pos
	if end := r.list(); end != ")" {
		r.outside("a missing )")
	}
	r.token(")")
	r.pos++
	r.enclosed(begin, outer)
}

// enclosed checks that the body of no here-document begins inside something and ends outside,
// or the other way round.
func (r *reader) enclosed(begin int, outer []hereDoc) {
	if len(r.pending) > 0 || len(outer) > 0 && strings.Contains(r.text[begin:r.pos], "\n") {
		r.outside("a here-document whose body does not begin in the next line")
	}
	r.pending = outer
}

// loop reads `for name in words; do`.
func (r *reader) loop() {
	r.open("for")
	r.blanks()
	name := r.name()
	if name == "" {
		r.outside("for without a plain name")
	}
	r.settable(name)
	if !isBlank(r.peek(0)) {
		r.outside("for without in")
	}
	r.blanks()
	if r.keyword() != "in" {
		r.outside("for without in")
	}
	r.token(name)
	r.open("in")
	place := r.take()
	r.blanks()
	for !ends(r.peek(0)) || r.has("<(") {
		if r.keyword() != "" {
			r.outside("the reserved word %s in the words of for", r.keyword())
		}
		word := r.word(plainWord)
		r.out[place].Words = append(r.out[place].Words, word)
		r.blanks()
	}
	switch c := r.peek(0); {
	case len(r.out[place].Words) == 0:
		r.outside("for without words")
	case c == ';' && r.peek(1) != ';' && r.peek(1) != '&' && r.peek(1) != '|':
		r.pos++
	case c != '\n':
		r.outside("for without ; after its words")
	}
	r.lines(false)
	if r.keyword() != "do" {
		r.outside("for without do")
	}
	r.open("do")
}

// cases reads case.
func (r *reader) cases() {
	if r.inside > 0 {
		r.outside("case inside $(…)")
	}
	r.open("case")
	r.blanks()
	place := r.take()
	word := r.word(plainWord)
	r.out[place].Words = []Word{word}
	r.blanks()
	if word.Raw == "" || r.keyword() != "in" {
		r.outside("case without in")
	}
	r.open("in")
	for end := ";;"; ; {
		r.lines(true)
		if r.keyword() == "esac" {
			r.pos += len("esac")
			r.token("esac")
			return
		}
		if end != ";;" {
			r.outside("a missing ;;")
		}
		r.patterns()
		end = r.list(";;", "esac")
		r.token(";;")
		if end == "esac" {
			r.token("esac")
			return
		}
	}
}

// patterns reads those of one case, up to the parenthesis.
func (r *reader) patterns() {
	place := r.take()
	for {
		if r.keyword() != "" || ends(r.peek(0)) {
			r.outside("case with a pattern that is not plain")
		}
		word := r.pattern()
		r.out[place].Words = append(r.out[place].Words, word)
		r.blanks()
		switch r.peek(0) {
		case ')':
			r.pos++
			r.token(")")
			return
		case '|':
			r.pos++
			r.blanks()
		default:
			r.outside("case with a pattern that is not plain")
		}
	}
}

// tests are the operators of [[ that are read.
var (
	unaryTests  = []string{"-e", "-f", "-d", "-s", "-x", "-r", "-w", "-L", "-n", "-z"}
	numberTests = []string{"-eq", "-ne", "-lt", "-le", "-gt", "-ge"}
	binaryTests = append([]string{"=", "==", "!=", "=~", "-nt", "-ot"}, numberTests...)
)

// test reads [[ without parentheses. Its operators are words of its entry.
func (r *reader) test() {
	if r.shell == Dash {
		r.outside("[[, which dash does not know")
	}
	r.open("[[")
	place := r.take()
	add := func(word Word) { r.out[place].Words = append(r.out[place].Words, word) }
	operator := func(of []string) bool {
		r.blanks()
		n := 0
		for !isBlank(r.peek(n)) && r.peek(n) != 0 {
			n++
		}
		if op := r.text[r.pos : r.pos+n]; n > 0 && slices.Contains(of, op) {
			add(Word{Raw: op, Known: true, Text: op, Shape: op})
			r.pos += n
			return true
		}
		return false
	}
	operand := func() {
		r.blanks()
		begin := r.pos
		word := r.pattern()
		if word.Raw == "" || word.Raw[0] == '-' || word.Raw == "!" || word.Raw == "]]" || strings.ContainsAny(word.Raw, "{}~") || slices.Contains(binaryTests, word.Raw) {
			r.pos = begin
			r.outside("[[ with an operand that is not plain")
		}
		add(word)
	}
	for {
		operator([]string{"!"})
		if operator(unaryTests) {
			operand()
		} else if operand(); operator(binaryTests) {
			operand()
			words := r.out[place].Words
			r.number = r.number || slices.Contains(numberTests, words[len(words)-2].Raw)
		}
		r.blanks()
		if r.has("]]") && ends(r.peek(2)) {
			r.pos += 2
			r.token("]]")
			return
		}
		if !operator([]string{"&&", "||"}) {
			r.outside("[[ with more than plain tests")
		}
	}
}

// definition is the length of the name of a function that is defined here, or 0.
func (r *reader) definition() int {
	begin := r.pos
	n := len(r.name())
	r.pos = begin
	if n == 0 || !strings.HasPrefix(r.text[begin+n:], "() {") {
		return 0
	}
	return n
}

// function reads `name() { …; }`.
func (r *reader) function(n int) {
	name := r.text[r.pos : r.pos+n]
	if _, ok := reserved[name]; ok || isSpecial(name) ||
		strings.HasPrefix(name, "TRAP") || strings.HasPrefix(name, "command_not_found") {
		r.outside("a function named %s", name)
	}
	r.token(name + "()")
	r.pos += n + len("() ")
	r.open("{")
	r.closing("}", r.list("}"))
}

// after reads the redirections of a compound command.
func (r *reader) after() {
	place := -1
	for r.blanks(); r.redirects(); r.blanks() {
		if place < 0 {
			place = r.take()
		}
		r.redirection(place)
	}
}

// simple reads assignments, words and redirections.
func (r *reader) simple() {
	place := r.take()
	for r.blanks(); ; r.blanks() {
		c := &r.out[place]
		switch b := r.peek(0); {
		case r.redirects():
			r.redirection(place)
			continue
		case b == '#' && isBlank(r.peek(-1)), b == ')':
		case b == '(':
			r.outside("a parenthesis in or after a word")
		case ends(b) && !r.has("<("):
		case len(c.Words) == 0 && r.assignment(place):
			continue
		default:
			if len(c.Words) == 0 {
				r.first(c)
			}
			word := r.word(plainWord)
			r.out[place].Words = append(r.out[place].Words, word)
			continue
		}
		r.checked(place)
		return
	}
}

// first refuses what a first word may not be.
func (r *reader) first(c *Command) {
	switch b := r.peek(0); {
	case b == '{' || b == '<':
		r.outside("a command that begins with %c", b)
	case b == '%':
		r.outside("a command that begins with %%")
	case r.keyword() != "":
		r.outside("%s after an assignment or redirection", r.keyword())
	case r.shell == Zsh && b == '-' && ends(r.peek(1)):
		r.outside("the modifier - of zsh")
	}
}

// assignment reads name=value, if that is what comes.
func (r *reader) assignment(place int) bool {
	begin := r.pos
	name := r.name()
	if name == "" {
		return false
	}
	a := Assign{Name: name}
	switch {
	case r.peek(0) == '[':
		r.outside("an assignment to an element, or a command with [")
	case r.has("+="):
		if r.shell == Dash {
			r.outside("+=, which dash does not know")
		}
		a.Append = true
		r.pos += 2
	case r.peek(0) == '=':
		r.pos++
	default:
		r.pos = begin
		return false
	}
	r.settable(name)
	if r.peek(0) == '(' {
		r.outside("an array")
	}
	if r.shell == Zsh && r.peek(0) == '=' {
		r.outside("=command of zsh")
	}
	a.Value = r.word(valueWord)
	r.out[place].Assigns = append(r.out[place].Assigns, a)
	return true
}

// name reads a name, or nothing.
func (r *reader) name() string {
	n := 0
	for c := r.peek(n); c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || n > 0 && c >= '0' && c <= '9'; c = r.peek(n) {
		n++
	}
	r.pos += n
	return r.text[r.pos-n : r.pos]
}

// redirects reports whether a redirection comes.
func (r *reader) redirects() bool {
	switch c := r.peek(0); {
	case c == '<' || c == '>':
		return !r.has("<(")
	case c == '&':
		return r.peek(1) == '>'
	case c >= '0' && c <= '9':
		return r.peek(1) == '<' || r.peek(1) == '>'
	}
	return false
}

// operators are those of redirections, longest first.
var operators = []string{"<<<", "<<-", "<<", "<", ">>", ">&", ">", "&>>", "&>"}

// redirection reads a redirection into an entry.
func (r *reader) redirection(place int) {
	var redir Redirect
	if c := r.peek(0); c >= '0' && c <= '9' {
		redir.Fd = string(c)
		r.pos++
	}
	redir.Op = operators[slices.IndexFunc(operators, r.has)]
	r.pos += len(redir.Op)
	next := r.peek(0)
	switch {
	case strings.IndexByte("<>&|(!", next) >= 0 && next != 0:
		r.outside("the redirection %s%c", redir.Op, next)
	case (redir.Op[0] == '&' || redir.Op == "<<<") && r.shell == Dash:
		r.outside("the redirection %s, which dash does not know", redir.Op)
	case redir.Op == ">&" && (next < '0' || next > '9' || !ends(r.peek(1))):
		r.outside("the redirection >& to something else than a digit")
	}
	r.blanks()
	begin := r.pos
	switch c := r.peek(0); {
	case ends(c) && !r.has("<(") || c == '#':
		r.outside("a redirection without a target")
	case r.redirects():
		r.outside("a redirection whose target may be a descriptor")
	}
	if redir.Op == "<<" || redir.Op == "<<-" {
		r.hereDoc(place, redir)
		return
	}
	redir.Target = r.word(plainWord)
	if r.shell == Zsh {
		if strings.ContainsAny(r.text[begin:r.pos], "*?[") && !redir.Target.Known {
			r.outside("a glob as the target of a redirection")
		}
		if r.peek(0) == '>' || r.peek(0) == '<' {
			r.outside("a numeric glob of zsh")
		}
		for _, other := range r.out[place].Redirs {
			if fd(other) == fd(redir) {
				r.outside("two redirections of one descriptor, which zsh does both")
			}
		}
	}
	r.out[place].Redirs = append(r.out[place].Redirs, redir)
}

// fd is the descriptor of a redirection.
func fd(redir Redirect) string {
	switch {
	case redir.Fd != "":
		return redir.Fd
	case redir.Op[0] == '<':
		return "0"
	}
	return "1"
}

// hereDoc reads the delimiter of a here-document.
func (r *reader) hereDoc(place int, redir Redirect) {
	redir.Target = r.word(plainWord)
	text, raw := redir.Target.Text, redir.Target.Raw
	if !redir.Target.Known || text == "" || strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.") != "" {
		r.outside("a here-document whose delimiter is not a plain word")
	}
	switch raw {
	case "'" + text + "'", `"` + text + `"`, `\` + text, text:
	default:
		r.outside("a here-document whose delimiter is quoted in part")
	}
	c := &r.out[place]
	c.Redirs = append(c.Redirs, redir)
	r.pending = append(r.pending, hereDoc{command: place, redir: len(c.Redirs) - 1, end: text, tabs: redir.Op == "<<-", plain: raw == text})
}
