package programs

import (
	"slices"
	"strings"
)

// readAwk says what an awk program does. awk can run commands, write files and show the
// environment; a program that certainly does none of this only reads its operands. Any
// other is code that cannot be read.
func readAwk(r *reader) {
	for i := range r.uses {
		if r.uses[i].flag == r.entry.short.get('e') {
			r.awkText(r.uses[i].value, r.uses[i].at)
		}
	}
	if r.drops == 0 && len(r.operands) > 0 {
		at := r.operands[0]
		r.awkText(r.args[at], at)
	}
	if len(r.out.Scripts) > 0 {
		r.opaque("an awk program can run commands")
	}
}

// awkText reads one program.
func (r *reader) awkText(w Word, at int) {
	if !w.Known {
		r.doubt("the awk program " + w.Text + " is only known when it runs")
		r.spell(at)
		return
	}
	if awkHarmless(w.Text) {
		return
	}
	p := awkProgram{reader: r, arg: at}
	if !p.lex(w.Text) {
		p.opaque("the awk program is not of a plain shape that only reads and prints")
		return
	}
	p.read()
}

// awkReaches are what an awk program needs to reach anything but its operands and its
// output, besides pipes and redirections.
var awkReaches = []string{"system", "getline", "@", "ARG", "TAB", "PROCINFO", "ENVIRON", "extension", "\\\n"}

// awkHarmless reports whether a program does nothing but print, however it is cut into
// tokens: awks differ in where a regular expression ends.
func awkHarmless(text string) bool {
	if !plainText(text) || strings.Contains(strings.ReplaceAll(text, "||", ""), "|") {
		return false
	}
	if strings.Contains(text, "print") && strings.Contains(strings.ReplaceAll(text, ">=", ""), ">") {
		return false
	}
	return !slices.ContainsFunc(awkReaches, func(what string) bool { return strings.Contains(text, what) })
}

// An awkProgram is a list of tokens.
type awkProgram struct {
	reader *reader
	arg    int // where it stands
	tokens []awkToken
	depth  int  // of open parentheses and brackets
	slash  bool // something is divided
}

// An awkToken is a name, a string ("…), a regular expression (/), a number (0),
// or an operator.
type awkToken struct {
	kind byte // 'a' name, '"' string, '/' regexp, '0' number, 'o' operator, '\n'
	text string
}

func (p *awkProgram) opaque(why string) {
	p.reader.opaque(why)
	p.reader.spell(p.arg)
}

// read looks for what leaves the program: commands, files, the environment, and the list of
// operands, which a program may change.
func (p *awkProgram) read() {
	printing, depth := false, 0
	for i, t := range p.tokens {
		switch {
		case t.kind == '"', t.kind == '/', t.kind == '0', t.kind == '\n': // a print may go on behind a newline
		case t.kind == 'a':
			p.name(i)
			if t.text == "print" || t.text == "printf" {
				printing, depth = true, 0
			}
		case t.text == ";", t.text == "{", t.text == "}":
			printing, depth = false, 0
		case t.text == "(" || t.text == "[":
			depth++
		case t.text == ")" || t.text == "]":
			depth--
		case t.text == "|":
			p.pipe(i)
		case (t.text == ">" || t.text == ">>") && printing && depth <= 0:
			p.redirect(i, Write)
		case t.text == ">>":
			p.opaque("the awk program is not of a plain shape that only reads and prints")
		}
	}
}

// awkFunctions are those that do no more than compute.
var awkFunctions = strings.Fields(`length substr index split sub gsub gensub match sprintf toupper tolower sin cos
	atan2 exp log sqrt int rand srand strftime systime mktime strtonum asort asorti patsplit and or xor compl lshift
	rshift typeof isarray fflush close print printf if while for switch return in delete exit getline case else do`)

// name looks at names with a meaning.
func (p *awkProgram) name(i int) {
	switch name := p.tokens[i].text; name {
	case "system":
		if p.is(i+1, "(") && p.kind(i+2) == '"' && p.is(i+3, ")") {
			p.command(i + 2)
			return
		}
		p.opaque("awk runs a command that it puts together")
	case "getline":
		p.getline(i)
	case "ENVIRON":
		p.reader.shows("")
	case "ARGV", "ARGC", "SYMTAB", "FUNCTAB", "PROCINFO":
		p.reader.doubt("the awk program changes " + name)
	default:
		if p.is(i+1, "(") && !slices.Contains(awkFunctions, name) && !p.defines(name) && name != "function" &&
			name != "func" {
			p.opaque("the awk program calls " + name + ", which is not known")
		}
	}
}

// defines reports whether the program has a function of that name.
func (p *awkProgram) defines(name string) bool {
	for i := range p.tokens {
		if p.kind(i) == 'a' && (p.is(i, "function") || p.is(i, "func")) && p.is(i+1, name) {
			return true
		}
	}
	return false
}

// getline reads from a file if a < follows, maybe behind a variable.
func (p *awkProgram) getline(i int) {
	at := i + 1
	if p.kind(at) == 'a' {
		at++
	}
	switch {
	case p.is(at, "<"):
		p.redirect(at, Read)
	case !p.ends(at):
		p.opaque("the awk program is not of a plain shape that only reads and prints")
	}
}

// pipe runs the string on either side of it.
func (p *awkProgram) pipe(i int) {
	switch {
	case p.kind(i+1) == '"' && p.ends(i+2):
		p.command(i + 1)
	case p.is(i+1, "getline") && p.kind(i-1) == '"' && !p.concatenates(i-2):
		p.command(i - 1)
	default:
		p.opaque("awk runs a command that it puts together")
	}
}

// concatenates reports whether a string behind token i would be joined to it.
func (p *awkProgram) concatenates(i int) bool {
	switch p.kind(i) {
	case 'a', '"', '0':
		return !p.is(i, "while")
	}
	return p.is(i, ")") || p.is(i, "]")
}

// command notes a command for the shell.
func (p *awkProgram) command(i int) {
	text := p.tokens[i].text
	if strings.Contains(text, `\`) {
		p.opaque("awk runs a command that it puts together")
		return
	}
	p.reader.runs(Run{IsScript: true, Script: Literal(text)})
	p.reader.spell(p.arg)
}

// redirect notes the file behind a redirection.
func (p *awkProgram) redirect(i int, kind Kind) {
	w := Word{Text: "the file that the awk program names"}
	if p.kind(i+1) == '"' && p.ends(i+2) && plainWords(p.tokens[i+1].text, " ") {
		w = Literal(p.tokens[i+1].text)
	}
	switch {
	case w.Known && (w.Text == "/dev/stdout" || w.Text == "/dev/stderr" || w.Text == "-"):
		return
	case strings.HasPrefix(w.Text, "/inet"):
		p.opaque("awk talks to the network")
		return
	}
	p.reader.file(kind, w, -1, false, kind == Write)
	if kind == Write {
		p.reader.spell(p.arg)
	}
}

// ends reports whether an expression ends before token i.
func (p *awkProgram) ends(i int) bool {
	return i >= len(p.tokens) || p.is(i, "\n") || p.is(i, ";") || p.is(i, "}") || p.is(i, ")")
}

func (p *awkProgram) is(i int, text string) bool {
	return i >= 0 && i < len(p.tokens) && p.tokens[i].kind != '"' && p.tokens[i].kind != '/' && p.tokens[i].text == text
}

func (p *awkProgram) kind(i int) byte {
	if i < 0 || i >= len(p.tokens) {
		return 0
	}
	return p.tokens[i].kind
}

// lex cuts the program into tokens. It returns false where awks may differ: a slash that may
// divide or begin a regular expression, a bracket that may hide one, a comment that another
// reading would take for more.
func (p *awkProgram) lex(text string) bool {
	if !plainText(text) {
		return false
	}
	for i := 0; i < len(text); {
		n, ok := p.token(text[i:])
		if !ok {
			return false
		}
		i += n
	}
	return !p.slash || p.dividesPlainly()
}

// dividesPlainly reports whether a program that divides would be as harmless if another awk
// took a slash for a regular expression, and so code for text and text for code.
func (p *awkProgram) dividesPlainly() bool {
	for _, t := range p.tokens {
		if (t.kind == '/' || t.kind == '"') && (!awkHarmless(t.text) || strings.ContainsAny(t.text, `/>#"`)) {
			return false
		}
	}
	return true
}

// token takes one token off the front and returns its length.
func (p *awkProgram) token(s string) (int, bool) {
	c := s[0]
	switch {
	case c == ' ' || c == '\t':
		return 1, true
	case c == '\n':
		return p.add('\n', "\n"), true
	case c == '#':
		comment, _, _ := strings.Cut(s, "\n")
		return len(comment), plainWords(comment[1:], " ,:;'=()") && !strings.Contains(comment, "/")
	case c == '"':
		return p.quoted(s)
	case c == '/':
		return p.divided(s)
	case c == '_' || letter(c):
		n := 1
		for n < len(s) && (s[n] == '_' || letter(s[n]) || digit(s[n])) {
			n++
		}
		return p.add('a', s[:n]), true
	case digit(c):
		n := 1
		for n < len(s) && (digit(s[n]) || s[n] == '.') {
			n++
		}
		// What follows would be part of the number in this or that awk.
		return p.add('0', s[:n]), n == len(s) || s[n] != '_' && !letter(s[n])
	}
	for _, op := range []string{"||", "&&", ">>", ">=", "<=", "==", "!="} {
		if strings.HasPrefix(s, op) {
			return p.add('o', op), true
		}
	}
	switch c {
	case '(', '[':
		p.depth++
	case ')', ']':
		p.depth--
	}
	return p.add('o', s[:1]), strings.IndexByte("+-*%^=<>!~?:,;()[]{}$|", c) >= 0 && !strings.HasPrefix(s, "|&")
}

func (p *awkProgram) add(kind byte, text string) int {
	p.tokens = append(p.tokens, awkToken{kind, text})
	return len(text)
}

// quoted takes a string.
func (p *awkProgram) quoted(s string) (int, bool) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			p.add('"', s[1:i])
			return i + 1, true
		case '\\':
			if i++; i < len(s) && (s[i] == '\n' || s[i] >= 0x80) {
				return 0, false
			}
		case '\n':
			return 0, false
		}
	}
	return 0, false
}

// divided takes a regular expression where only an operand can stand, and a division behind
// one where only an operator can. In any other place it is not certain which it is.
func (p *awkProgram) divided(s string) (int, bool) {
	last := awkToken{kind: '\n'}
	if n := len(p.tokens); n > 0 {
		last = p.tokens[n-1]
	}
	switch {
	case last.kind == '\n' && p.depth <= 0,
		last.kind == 'o' && strings.Contains(" { } ; ( , ! ~ && || ", " "+last.text+" "):
		return p.regexp(s)
	case last.kind == '0', last.kind == 'o' && last.text == "]", last.kind == 'a' && awkVariable(last.text):
		p.slash = true
		return p.add('o', "/"), !strings.HasPrefix(s, "/=")
	}
	return 0, false
}

// awkVariable reports whether a name is not one of the language.
func awkVariable(name string) bool {
	switch name {
	case "NR", "NF", "FNR":
		return true
	case "BEGIN", "END", "BEGINFILE", "ENDFILE", "next", "nextfile", "break", "continue", "default", "function",
		"func", "system":
		return false
	}
	for _, word := range awkFunctions {
		if name == word {
			return false
		}
	}
	return true
}

// regexp takes a regular expression.
func (p *awkProgram) regexp(s string) (int, bool) {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '/':
			p.add('/', s[1:i])
			return i + 1, i > 1
		case '\\':
			if i++; i < len(s) && (s[i] == '\n' || s[i] >= 0x80) {
				return 0, false
			}
		case '[':
			n := bracket(s[i:], '/')
			if n == 0 {
				return 0, false
			}
			i += n - 1
		case '\n':
			return 0, false
		}
	}
	return 0, false
}
