package subset

import (
	"slices"
	"strings"
)

// reserved are the words that mean something where a command begins. Those with true are in
// the subset.
var reserved = map[string]bool{
	"if": true, "then": true, "elif": true, "else": true, "fi": true, "for": true, "in": true,
	"while": true, "until": true, "do": true, "done": true, "{": true, "}": true, "!": true,
	"case": true, "esac": true, "time": true, "[[": true,
	"]]": false, "function": false, "select": false, "coproc": false, "foreach": false, "end": false, "repeat": false,
	"nocorrect": false,
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
	r.splits(name, r.out[place].Words...)
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
		if word.Raw == "" || word.Raw[0] == '-' || word.Raw == "!" || word.Raw == "]]" ||
			strings.ContainsAny(word.Raw, "{}~") || slices.Contains(binaryTests, word.Raw) {
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
	r.functions = true
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
