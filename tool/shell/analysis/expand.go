package analysis

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// substituted is how a process substitution is named.
const substituted = "/dev/fd/63"

// pieces expands the parts of a word, and walks what runs inside them.
func (w *walker) pieces(parts []syntax.WordPart, s *state) []piece {
	list := make([]piece, 0, len(parts)+1)
	for i, part := range parts {
		if lit, ok := part.(*syntax.Lit); ok {
			list = w.literal(list, lit.Value, i == 0, len(parts) == i+1, s)
			continue
		}
		list = w.part(list, part, false, s)
	}
	return list
}

// literal expands unquoted text: a tilde, then backslashes.
func (w *walker) literal(list []piece, text string, first, last bool, s *state) []piece {
	if strings.IndexByte(text, '~') >= 0 && first {
		list, text = w.tilde(list, text, last, s)
	}
	unescape(text, func(text string, quoted bool) {
		list = append(list, piece{text: text, known: true, quoted: quoted})
	})
	return list
}

// part expands a part that is no plain text.
func (w *walker) part(list []piece, part syntax.WordPart, quoted bool, s *state) []piece {
	unknown := piece{quoted: quoted, split: !quoted}
	switch part := part.(type) {
	case *syntax.Lit:
		return append(list, piece{text: unescapeQuoted(part.Value, false), known: true, quoted: true})
	case *syntax.SglQuoted:
		text, known := part.Value, true
		if part.Dollar {
			text, known = ansiText(part.Value)
		}
		return append(list, piece{text: text, known: known, quoted: true})
	case *syntax.DblQuoted:
		return w.quoted(list, part, s)
	case *syntax.ParamExp:
		return append(list, w.parameter(part, quoted, s))
	case *syntax.CmdSubst:
		return append(list, w.substitution(part, quoted, s))
	case *syntax.ArithmExp:
		w.arithmetic(part.X, s, part)
		return append(list, piece{quoted: quoted, numeric: true})
	case *syntax.ProcSubst:
		if len(part.Stmts) == 0 { // some versions of bash leave it out
			return append(list, unknown)
		}
		w.subshell(part.Stmts, s)
		return append(list, piece{text: substituted, known: true, quoted: true})
	case *syntax.ExtGlob:
		if !w.at.test || strings.ContainsAny(part.Pattern.Value, "$`<>") {
			w.unknown(0, part, "an extended pattern, which may be read differently or hold code")
		}
		return append(list, unknown)
	}
	w.unknown(0, part, "an expansion that is not known")
	return append(list, unknown)
}

func (w *walker) quoted(list []piece, q *syntax.DblQuoted, s *state) []piece {
	if len(q.Parts) == 0 {
		return append(list, piece{known: true, quoted: true})
	}
	for _, part := range q.Parts {
		list = w.part(list, part, true, s)
	}
	return list
}

// subshell walks statements in a shell of their own.
func (w *walker) subshell(stmts []*syntax.Stmt, s *state) {
	at := w.at
	at.inner, at.test = true, false
	w.inside(at, func() { w.apart(func() { w.stmts(stmts, s.fork()) }) })
}

// substitution walks a command substitution. Only what `pwd` prints is known.
func (w *walker) substitution(c *syntax.CmdSubst, quoted bool, s *state) piece {
	w.subshell(c.Stmts, s)
	if dir := s.folders.only(); dir != "" && len(c.Stmts) == 1 && !w.facts.adrift {
		call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr)
		shadowed := w.facts.functions["pwd"] != nil
		if ok && !shadowed && len(call.Args) == 1 && len(call.Assigns) == 0 && len(c.Stmts[0].Redirs) == 0 &&
			call.Args[0].Lit() == "pwd" {
			return piece{text: dir, known: true, quoted: quoted, split: !quoted}
		}
	}
	return piece{quoted: quoted, split: !quoted}
}

// tilde expands a leading ~, and in NAME=~/x that behind the equals sign.
func (w *walker) tilde(list []piece, text string, last bool, s *state) ([]piece, string) {
	rest := text
	if name, value, ok := strings.Cut(text, "="); ok && isName(name) {
		list = append(list, piece{text: name + "=", known: true})
		rest = value
	}
	if !strings.HasPrefix(rest, "~") {
		if strings.Contains(rest, ":~") && rest != text {
			return append(list, piece{}), "" // PATH=a:~/b
		}
		if rest == text {
			return list, text
		}
		return list, rest
	}
	prefix, after, slash := strings.Cut(rest, "/")
	if prefix != "~" || !slash && !last || strings.Contains(after, ":~") {
		return append(list, piece{split: false}), strings.TrimPrefix(rest, prefix)
	}
	home := w.value("HOME", s)
	return append(list, piece{text: home.Text, known: home.Known, quoted: true}), rest[1:]
}

// value returns what is known of a variable's value.
func (w *walker) value(name string, s *state) programs.Word {
	if dynamic(name) {
		if name == "PWD" && !w.facts.adrift {
			return w.pwd(s)
		}
		return programs.Word{}
	}
	if v, ok := w.lookup(name, s); ok {
		if v.isList {
			if len(v.list) > 0 {
				return v.list[0]
			}
			return programs.Word{}
		}
		if v.value.Glob {
			return programs.Word{}
		}
		return v.value
	}
	switch name {
	case "HOME":
		return programs.Literal(w.world.Home())
	case "IFS":
		return programs.Literal(" \t\n")
	}
	if value, set := w.world.Variable(name); set {
		return programs.Literal(value)
	}
	return programs.Word{}
}

// pwd is $PWD, unless somebody assigned it.
func (w *walker) pwd(s *state) programs.Word {
	if _, assigned := w.lookup("PWD", s); assigned || s.folders.only() == "" {
		return programs.Word{}
	}
	return programs.Literal(s.folders.only())
}

// dynamic reports variables whose value the shell itself changes.
func dynamic(name string) bool {
	switch name {
	case "PWD", "OLDPWD", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "EPOCHREALTIME",
		"PPID", "UID", "EUID", "GROUPS", "DIRSTACK", "FUNCNAME", "HISTCMD", "OPTARG", "OPTIND", "OPTERR",
		"PIPESTATUS", "SHELLOPTS", "BASHOPTS", "BASHPID", "COLUMNS", "LINES", "_", "SHLVL", "COPROC":
		return true
	}
	return strings.HasPrefix(name, "BASH") || strings.HasPrefix(name, "COMP_")
}

// doubleQuoted expands what stands in ${x:-…} inside double quotes, in a here-document or in
// arithmetic. There a single quote is plain text for the shell, though not for the parser.
func (w *walker) doubleQuoted(parts []syntax.WordPart, s *state) []piece {
	var list []piece
	for _, part := range parts {
		if q, ok := part.(*syntax.SglQuoted); ok {
			list = w.unquoted(list, q, s)
			continue
		}
		list = w.part(list, part, true, s)
	}
	return list
}

// unquoted expands the text between two single quotes that are none. A character that would
// end the quotes or the braces around it is read differently by each shell.
func (w *walker) unquoted(list []piece, q *syntax.SglQuoted, s *state) []piece {
	if strings.ContainsAny(q.Value, "\"\\{}") {
		w.unknown(0, q, "single quotes inside double quotes, which do not quote")
	}
	if !strings.ContainsAny(q.Value, "$`") {
		return append(list, piece{text: "'" + q.Value + "'", known: true, quoted: true})
	}
	word, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Document(strings.NewReader(q.Value))
	if err != nil {
		w.unknown(0, q, "single quotes inside double quotes, which do not quote")
		return append(list, piece{quoted: true})
	}
	at := w.at
	at.text, at.line = q.Value, w.line(q)
	list = append(list, piece{text: "'", known: true, quoted: true})
	w.inside(at, func() { list = append(list, w.doubleQuoted(word.Parts, s)...) })
	return append(list, piece{text: "'", known: true, quoted: true})
}

// maxChoices is how many words braces may make of one.
const maxChoices = 256

// expandBraces returns the words that a word with braces stands for. If there are too many
// it returns the word itself and false.
func (w *walker) expandBraces(word *syntax.Word) ([]*syntax.Word, bool) {
	split := &syntax.Word{Parts: word.Parts} // the tree stays as it is
	if !syntax.SplitBraces(split) {
		return []*syntax.Word{word}, true
	}
	if w.braces > 0 {
		if words := braceWords(split.Parts); words != nil {
			w.braces -= len(words)
			return words, true
		}
	}
	return []*syntax.Word{word}, false
}

// braceWords multiplies out the parts; nil if there are too many.
func braceWords(parts []syntax.WordPart) []*syntax.Word {
	words := []*syntax.Word{{}}
	for _, part := range parts {
		brace, ok := part.(*syntax.BraceExp)
		if !ok {
			for _, word := range words {
				word.Parts = append(word.Parts, part)
			}
			continue
		}
		choices := braceChoices(brace)
		if choices == nil || len(words)*len(choices) > maxChoices {
			return nil
		}
		var next []*syntax.Word
		for _, word := range words {
			for _, choice := range choices {
				joined := append(append([]syntax.WordPart(nil), word.Parts...), choice.Parts...)
				next = append(next, &syntax.Word{Parts: joined})
			}
		}
		words = next
	}
	return words
}

// braceChoices are what one pair of braces stands for; nil if there are too many.
func braceChoices(brace *syntax.BraceExp) []*syntax.Word {
	if brace.Sequence {
		return sequence(brace)
	}
	var choices []*syntax.Word
	for _, elem := range brace.Elems {
		words := braceWords(elem.Parts)
		if words == nil {
			return nil
		}
		choices = append(choices, words...)
	}
	return choices
}

// sequence expands {a..b} and {a..b..step}.
func sequence(brace *syntax.BraceExp) []*syntax.Word {
	from, to := brace.Elems[0].Lit(), brace.Elems[1].Lit()
	step := 1
	if len(brace.Elems) > 2 {
		n, err := strconv.Atoi(brace.Elems[2].Lit())
		if err != nil {
			return nil
		}
		step = max(n, -n)
	}
	step = max(step, 1)
	first, err1 := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	format := func(n int) string { return padded(n, from, to) }
	if err1 != nil || err2 != nil {
		if len(from) != 1 || len(to) != 1 {
			return nil
		}
		first, last = int(from[0]), int(to[0])
		format = func(n int) string { return string(rune(n)) }
	}
	distance := max(last-first, first-last)
	if distance < 0 || distance/step >= maxChoices {
		return nil
	}
	var words []*syntax.Word
	for i := 0; i <= distance; i += step {
		n := first + i
		if last < first {
			n = first - i
		}
		lit := &syntax.SglQuoted{Value: format(n)}
		words = append(words, &syntax.Word{Parts: []syntax.WordPart{lit}})
	}
	return words
}

// padded writes a number as wide as the wider end, if one of them begins with a zero.
func padded(n int, from, to string) string {
	text := strconv.Itoa(n)
	zero := func(s string) bool {
		s = strings.TrimPrefix(s, "-")
		return len(s) > 1 && s[0] == '0'
	}
	if !zero(from) && !zero(to) {
		return text
	}
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for len(sign)+len(text) < max(len(from), len(to)) {
		text = "0" + text
	}
	return sign + text
}
