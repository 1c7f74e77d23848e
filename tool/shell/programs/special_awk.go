package programs

import "strings"

// readAwk says what an awk program does. awk can run commands and write files;
// a program that does neither only reads its operands.
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
	p := awkProgram{reader: r, arg: at}
	if p.lex(w.Text) {
		p.read()
		return
	}
	// However it is to be read, without these it does nothing but print.
	for _, sign := range []string{"system", "getline", "|", ">", "@", "ARG", "TAB", "PROCINFO"} {
		if strings.Contains(w.Text, sign) {
			p.opaque("the awk program is not understood")
			return
		}
	}
}

// An awkProgram is a list of tokens.
type awkProgram struct {
	reader *reader
	arg    int // where it stands
	tokens []awkToken
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

// read looks for what leaves the program: commands, files, and the list of
// operands, which a program may change.
func (p *awkProgram) read() {
	printing, depth := false, 0
	for i, t := range p.tokens {
		switch {
		case t.kind == '"', t.kind == '/', t.kind == '0':
		case t.kind == 'a':
			p.name(i)
			printing, depth = printing || t.text == "print" || t.text == "printf", depthOf(t, depth)
		case t.kind == '\n', t.text == ";", t.text == "{", t.text == "}":
			printing, depth = false, 0
		case t.text == "(" || t.text == "[":
			depth++
		case t.text == ")" || t.text == "]":
			depth--
		case t.text == "|" || t.text == "|&":
			p.pipe(i)
		case (t.text == ">" || t.text == ">>") && printing && depth == 0:
			p.redirect(i, Write)
		case t.text == "@":
			p.opaque("awk loads code, or calls functions by name")
		}
	}
}

// depthOf starts counting anew at a print.
func depthOf(t awkToken, depth int) int {
	if t.text == "print" || t.text == "printf" {
		return 0
	}
	return depth
}

// name looks at names with a meaning.
func (p *awkProgram) name(i int) {
	switch p.tokens[i].text {
	case "system":
		if p.is(i+1, "(") && p.kind(i+2) == '"' && p.is(i+3, ")") {
			p.command(i + 2)
			return
		}
		p.opaque("awk runs a command that it puts together")
	case "getline":
		p.getline(i)
	case "ARGV", "ARGC", "SYMTAB", "FUNCTAB", "PROCINFO":
		p.reader.doubt("the awk program changes " + p.tokens[i].text)
	}
}

// getline reads from a file if a < follows, maybe behind a variable.
func (p *awkProgram) getline(i int) {
	for at := i + 1; at < len(p.tokens) && at <= i+6; at++ {
		switch {
		case p.is(at, "<"):
			p.redirect(at, Read)
			return
		case p.ends(at):
			return
		}
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
	if p.kind(i+1) == '"' && p.ends(i+2) && !strings.Contains(p.tokens[i+1].text, `\`) {
		w = Literal(p.tokens[i+1].text)
	}
	switch {
	case w.Text == "/dev/stdout" || w.Text == "/dev/stderr" || w.Text == "-":
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
	return i >= 0 && i < len(p.tokens) && p.tokens[i].kind != '"' && p.tokens[i].text == text
}

func (p *awkProgram) kind(i int) byte {
	if i < 0 || i >= len(p.tokens) {
		return 0
	}
	return p.tokens[i].kind
}
