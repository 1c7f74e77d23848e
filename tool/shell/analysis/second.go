package analysis

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/assent-dev/assent/tool/shell/subset"
)

// SecondReading says why a text cannot be trusted to run as it was judged in a shell that
// reads it by itself, or "" if it can: a second reader, which shares nothing with the parser,
// reads the raw text too, and reads the same commands. Otherwise the reason names the
// construct that is outside of what the second reader reads, with its line, or the first
// command that the two read differently.
func SecondReading(text string, shell subset.Shell) (outside string) {
	defer func() {
		if r := recover(); r != nil {
			outside = fmt.Sprintf("line 1: internal error: %v", r)
		}
	}()
	return secondReading(text, shell, 0)
}

func secondReading(text string, shell subset.Shell, depth int) string {
	if len(text) > oddLength {
		return fmt.Sprintf("line 1: longer than %d bytes", oddLength) // a person is asked anyway
	}
	read, err := subset.Read(text, shell)
	if err != nil {
		return err.Error()
	}
	f, err := canonical(text)
	if err != nil {
		return err.Error()
	}
	if diff := compareReadings(read, flattened(f.text, f.file)); diff != "" {
		return diff
	}
	for _, c := range read {
		shells, script := shellScript(c)
		if len(shells) > 0 && depth == maxInner {
			return fmt.Sprintf("line %d: too many shells inside each other", c.Line)
		}
		for _, shell := range shells {
			if why := secondReading(script, shell, depth+1); why != "" {
				return fmt.Sprintf("line %d: in the script for %v: %s", c.Line, shell, why)
			}
		}
	}
	return ""
}

// compareReadings names the first difference.
func compareReadings(read, parsed []subset.Entry) string {
	for i, a := range read {
		if i >= len(parsed) || !sameEntry(a, parsed[i]) {
			return fmt.Sprintf("line %d: the parser reads something else than %s", a.Line, entryName(a))
		}
	}
	if len(parsed) > len(read) {
		return fmt.Sprintf("line %d: the parser reads more commands", read[len(read)-1].Line)
	}
	return ""
}

func entryName(c subset.Entry) string {
	var words []string
	for _, a := range c.Assigns {
		words = append(words, a.Name+"="+a.Value.Raw)
	}
	for _, w := range c.Words {
		words = append(words, w.Raw)
	}
	if len(words) == 0 {
		return fmt.Sprintf("%q", c.Before)
	}
	return fmt.Sprintf("the command %q", strings.Join(words, " "))
}

func sameEntry(a, b subset.Entry) bool {
	same := func(a, b subset.Word) bool { return a.Shape == b.Shape }
	return a.Before == b.Before && slices.EqualFunc(a.Words, b.Words, same) &&
		slices.EqualFunc(a.Assigns, b.Assigns, func(a, b subset.Assign) bool {
			return a.Name == b.Name && a.Append == b.Append && same(a.Value, b.Value)
		}) &&
		slices.EqualFunc(a.Redirs, b.Redirs, func(a, b subset.Redirect) bool {
			return a.Fd == b.Fd && a.Op == b.Op && a.Body == b.Body && same(a.Target, b.Target)
		})
}

// shellScript finds the script that a command hands to a shell, behind whatever wrappers, with
// -c or in a here-document, and the shells that may read it: /bin/sh is dash on some systems
// and bash on others.
func shellScript(c subset.Entry) ([]subset.Shell, string) {
	for i, word := range c.Words {
		var shells []subset.Shell
		switch word.Text[strings.LastIndexByte(word.Text, '/')+1:] {
		case "bash":
			shells = []subset.Shell{subset.Bash}
		case "sh", "dash", "ash":
			shells = []subset.Shell{subset.Dash, subset.Bash}
		case "zsh":
			shells = []subset.Shell{subset.Zsh}
		default:
			continue
		}
		if script, ok := afterC(c.Words[i+1:]); ok {
			return shells, script
		}
		for _, redir := range c.Redirs {
			switch {
			case redir.Op == "<<" || redir.Op == "<<-":
				return shells, redir.Body
			case redir.Op == "<<<" && redir.Target.Known:
				return shells, redir.Target.Text
			}
		}
	}
	return nil, ""
}

// afterC is the script behind the flag -c, alone or among others.
func afterC(args []subset.Word) (script string, ok bool) {
	flag := func(text string) bool { return strings.HasPrefix(text, "-") || strings.HasPrefix(text, "+") }
	for i, arg := range args {
		if !flag(arg.Text) || strings.HasPrefix(arg.Text, "--") || !strings.Contains(arg.Text, "c") {
			continue
		}
		for _, script := range args[i+1:] {
			if !flag(script.Text) {
				return script.Text, script.Known
			}
		}
	}
	return "", false
}

// A flattener brings what the parser read into the form of the second reader. What has no
// place in that form becomes a word that the second reader never reads.
type flattener struct {
	text   string // that was parsed
	out    []subset.Entry
	before []string
	depth  int
}

func flattened(text string, file *syntax.File) []subset.Entry {
	f := &flattener{text: text}
	f.list(file.Stmts)
	f.take()
	return f.out
}

func (f *flattener) token(s string) { f.before = append(f.before, s) }

func (f *flattener) foreign(node any) { f.token(fmt.Sprintf("?%T", node)) }

func (f *flattener) take() *subset.Entry {
	f.out = append(f.out, subset.Entry{Before: strings.Join(f.before, " ")})
	f.before = f.before[:0]
	return &f.out[len(f.out)-1]
}

func (f *flattener) list(stmts []*syntax.Stmt) {
	for i, stmt := range stmts {
		if i > 0 && !stmts[i-1].Background {
			f.token(";")
		}
		f.stmt(stmt)
		if stmt.Background {
			f.token("&")
		}
	}
}

func (f *flattener) stmt(stmt *syntax.Stmt) {
	if stmt.Negated {
		f.token("!")
	}
	if stmt.Coprocess || stmt.Disown {
		f.foreign(stmt)
	}
	switch cmd := stmt.Cmd.(type) {
	case nil:
		f.simple(nil, nil, stmt.Redirs)
		return
	case *syntax.CallExpr:
		f.simple(cmd.Assigns, cmd.Args, stmt.Redirs)
		return
	case *syntax.DeclClause:
		f.declared(cmd, stmt.Redirs)
		return
	case *syntax.BinaryCmd:
		f.binary(cmd)
		if len(stmt.Redirs) > 0 {
			f.foreign(cmd)
		}
		return
	case *syntax.Subshell:
		f.token("(")
		f.list(cmd.Stmts)
		f.token(")")
	case *syntax.Block:
		f.token("{")
		f.list(cmd.Stmts)
		f.token("}")
	case *syntax.IfClause:
		f.token("if")
		for clause := cmd; clause != nil; clause = clause.Else {
			if clause.ThenPos.IsValid() {
				f.list(clause.Cond)
				f.token("then")
			}
			f.list(clause.Then)
			if next := clause.Else; next != nil && next.ThenPos.IsValid() {
				f.token("elif")
			} else if next != nil {
				f.token("else")
			}
		}
		f.token("fi")
	case *syntax.WhileClause:
		f.token(map[bool]string{false: "while", true: "until"}[cmd.Until])
		f.list(cmd.Cond)
		f.token("do")
		f.list(cmd.Do)
		f.token("done")
	case *syntax.ForClause:
		f.loop(cmd)
	case *syntax.CaseClause:
		f.cases(cmd)
	case *syntax.TestClause:
		f.token("[[")
		f.entry(f.tests(cmd.X, nil))
		f.token("]]")
	case *syntax.TimeClause:
		if cmd.PosixFormat || cmd.Stmt == nil || len(stmt.Redirs) > 0 {
			f.foreign(cmd)
			return
		}
		f.token("time")
		f.stmt(cmd.Stmt)
		return
	case *syntax.FuncDecl:
		body, ok := cmd.Body.Cmd.(*syntax.Block)
		if !ok || cmd.RsrvWord || len(cmd.Body.Redirs)+len(stmt.Redirs) > 0 {
			f.foreign(cmd)
			return
		}
		f.token(cmd.Name.Value + "()")
		f.token("{")
		f.list(body.Stmts)
		f.token("}")
		return
	default:
		f.foreign(cmd)
	}
	if len(stmt.Redirs) > 0 {
		f.entry(f.redirs(stmt.Redirs))
	}
}

func (f *flattener) binary(cmd *syntax.BinaryCmd) {
	for i, side := range []*syntax.Stmt{cmd.X, cmd.Y} {
		if i == 1 {
			f.token(cmd.Op.String())
		}
		if inner, ok := side.Cmd.(*syntax.BinaryCmd); ok && cmd.Op == syntax.Pipe && inner.Op != syntax.Pipe ||
			side.Background {
			f.foreign(side)
		}
		f.stmt(side)
	}
}

func (f *flattener) loop(cmd *syntax.ForClause) {
	iter, ok := cmd.Loop.(*syntax.WordIter)
	if !ok || cmd.Select || cmd.Braces || !iter.InPos.IsValid() {
		f.foreign(cmd)
		return
	}
	f.token("for")
	f.token(iter.Name.Value)
	f.token("in")
	f.entry(f.words(iter.Items))
	f.token("do")
	f.list(cmd.Do)
	f.token("done")
}

func (f *flattener) cases(cmd *syntax.CaseClause) {
	f.token("case")
	f.entry(f.words([]*syntax.Word{cmd.Word}))
	f.token("in")
	for _, item := range cmd.Items {
		if item.Op != syntax.Break {
			f.foreign(item)
		}
		f.entry(f.words(item.Patterns))
		f.token(")")
		f.list(item.Stmts)
		f.token(";;")
	}
	f.token("esac")
}

// tests are the words of a test, with its operators among them.
func (f *flattener) tests(x syntax.TestExpr, parts []flatPart) []flatPart {
	operator := func(pos syntax.Pos, op fmt.Stringer) {
		parts = append(parts, flatPart{pos, func(c *subset.Entry) {
			c.Words = append(c.Words, subset.Word{Known: true, Text: op.String(), Shape: op.String()})
		}})
	}
	switch x := x.(type) {
	case *syntax.Word:
		return append(parts, f.words([]*syntax.Word{x})...)
	case *syntax.UnaryTest:
		operator(x.OpPos, x.Op)
		return f.tests(x.X, parts)
	case *syntax.BinaryTest:
		parts = f.tests(x.X, parts)
		operator(x.OpPos, x.Op)
		return f.tests(x.Y, parts)
	}
	f.foreign(x)
	return parts
}

// A flatPart is a part of a command that has a word of its own.
type flatPart struct {
	pos  syntax.Pos
	read func(*subset.Entry)
}

// entry takes an entry. The commands in its substitutions follow in the order of the text.
func (f *flattener) entry(pieces []flatPart) {
	place := len(f.out)
	c := *f.take()
	slices.SortStableFunc(pieces, func(a, b flatPart) int { return int(a.pos.Offset()) - int(b.pos.Offset()) })
	for _, p := range pieces {
		p.read(&c)
	}
	f.out[place] = c
}

func (f *flattener) words(words []*syntax.Word) []flatPart {
	var pieces []flatPart
	for _, word := range words {
		pieces = append(pieces, flatPart{word.Pos(), func(c *subset.Entry) { c.Words = append(c.Words, f.word(word)) }})
	}
	return pieces
}

func (f *flattener) redirs(redirs []*syntax.Redirect) []flatPart {
	var pieces []flatPart
	for _, redir := range redirs {
		pieces = append(pieces, flatPart{redir.OpPos, func(c *subset.Entry) {
			r := subset.Redirect{Op: redir.Op.String(), Target: f.word(redir.Word)}
			if redir.N != nil {
				r.Fd = redir.N.Value
			}
			if redir.Hdoc != nil {
				r.Body = f.body(redir)
			}
			c.Redirs = append(c.Redirs, r)
		}})
	}
	return pieces
}

// body is the text of a here-document that has no expansions.
func (f *flattener) body(redir *syntax.Redirect) string {
	var b strings.Builder
	for _, part := range redir.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			f.foreign(part)
			continue
		}
		b.WriteString(lit.Value)
	}
	if redir.Op != syntax.DashHdoc {
		return b.String()
	}
	var stripped strings.Builder
	for line := range strings.Lines(b.String()) {
		stripped.WriteString(strings.TrimLeft(line, "\t"))
	}
	return stripped.String()
}

func (f *flattener) simple(assigns []*syntax.Assign, args []*syntax.Word, redirs []*syntax.Redirect) {
	pieces := append(f.words(args), f.redirs(redirs)...)
	for _, a := range assigns {
		if a.Index != nil || a.Array != nil || a.Naked {
			f.foreign(a)
			continue
		}
		pieces = append(pieces, flatPart{a.Pos(), func(c *subset.Entry) {
			read := subset.Assign{Name: a.Name.Value, Append: a.Append}
			if a.Value != nil {
				read.Value = f.word(a.Value)
			}
			c.Assigns = append(c.Assigns, read)
		}})
	}
	place := len(f.out)
	f.entry(pieces)
	f.nested(f.out[place].Words)
}

// declared takes an entry for export and its kin, whose assignments are words to the second
// reader.
func (f *flattener) declared(cmd *syntax.DeclClause, redirs []*syntax.Redirect) {
	pieces := append(f.redirs(redirs), flatPart{cmd.Variant.Pos(), func(c *subset.Entry) {
		c.Words = append(c.Words, f.word(&syntax.Word{Parts: []syntax.WordPart{cmd.Variant}}))
	}})
	for _, a := range cmd.Args {
		if a.Index != nil || a.Array != nil {
			f.foreign(a)
			continue
		}
		pieces = append(pieces, flatPart{a.Pos(), func(c *subset.Entry) {
			var parts []syntax.WordPart
			if a.Name != nil {
				sign := map[bool]string{false: "=", true: "+="}[a.Append]
				if a.Naked {
					sign = ""
				}
				parts = append(parts, &syntax.Lit{Value: a.Name.Value + sign})
			}
			if a.Value != nil {
				parts = append(parts, a.Value.Parts...)
			}
			c.Words = append(c.Words, f.word(&syntax.Word{Parts: parts}))
		}})
	}
	f.entry(pieces)
}

// nested flattens the text that eval or trap is given, as the second reader does.
func (f *flattener) nested(words []subset.Word) {
	if len(words) == 0 || !words[0].Known {
		return
	}
	name, args := words[0].Text, words[1:]
	if len(args) > 0 && args[0].Known && args[0].Text == "--" {
		args = args[1:]
	}
	switch {
	case name == "trap" && len(args) > 1 && args[0].Text != "-":
		args = args[:1]
	case name != "eval":
		return
	}
	var texts []string
	for _, word := range args {
		texts = append(texts, word.Text)
	}
	text := strings.Join(texts, " ")
	if strings.TrimSpace(text) == "" {
		return
	}
	script, err := canonical(text)
	if err != nil || f.depth == maxInner {
		f.foreign(f)
		return
	}
	inner := &flattener{text: script.text, depth: f.depth + 1}
	inner.token(name)
	inner.list(script.file.Stmts)
	f.out = append(f.out, inner.out...)
	f.before = append(inner.before, "end")
}

func (f *flattener) word(word *syntax.Word) subset.Word {
	s := subset.NewSpelling()
	f.parts(s, word.Parts, false)
	return s.Word(word.Lit())
}

func (f *flattener) parts(s *subset.Spelling, parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit:
			f.literal(s, part.Value, quoted)
		case *syntax.SglQuoted:
			if part.Dollar {
				f.foreign(part)
			}
			s.Quote()
			for _, c := range part.Value {
				s.Quoted(c)
			}
		case *syntax.DblQuoted:
			if part.Dollar || quoted {
				f.foreign(part)
			}
			s.Quote()
			f.parts(s, part.Parts, true)
		case *syntax.ParamExp:
			f.parameter(s, part, quoted)
		case *syntax.CmdSubst:
			if part.Backquotes || part.TempFile || part.ReplyVar {
				f.foreign(part)
			}
			s.Expansion("$()", quoted)
			f.token("$(")
			f.list(part.Stmts)
			f.token(")")
		case *syntax.ProcSubst:
			if part.Op != syntax.CmdIn || quoted {
				f.foreign(part)
			}
			s.Expansion("<()", false)
			f.token("<(")
			f.list(part.Stmts)
			f.token(")")
		case *syntax.ArithmExp:
			if part.Bracket || part.Unsigned {
				f.foreign(part)
			}
			inner := f.text[part.Left.Offset()+3 : part.Right.Offset()]
			s.Expansion("$(("+strings.ReplaceAll(inner, " ", "")+"))", quoted)
		default:
			f.foreign(part)
		}
	}
}

// literal adds text as the parser keeps it, with its backslashes.
func (f *flattener) literal(s *subset.Spelling, text string, quoted bool) {
	escaped := false
	for _, c := range text {
		switch {
		case escaped && c == '\n':
			escaped = false
		case escaped:
			if quoted && !strings.ContainsRune("$`\"\\", c) {
				s.Quoted('\\')
			}
			s.Quoted(c)
			escaped = false
		case c == '\\':
			escaped = true
		case quoted:
			s.Quoted(c)
		default:
			s.Unquoted(c)
		}
	}
	if escaped {
		s.Quoted('\\')
	}
}

func (f *flattener) parameter(s *subset.Spelling, p *syntax.ParamExp, quoted bool) {
	if p.Param == nil || p.Excl || p.Width || p.IsSet || p.Flags != nil || p.NestedParam != nil ||
		len(p.Modifiers) > 0 || p.Names != 0 || p.Split != 0 || p.GlobSubst != 0 || p.RcExpand != 0 ||
		p.Short && p.Index != nil {
		f.foreign(p)
		return
	}
	length := map[bool]string{true: "#"}[p.Length]
	s.Expansion("${"+length+p.Param.Value, quoted)
	if p.Index != nil {
		s.Operator("[" + f.number(p.Index) + "]")
	}
	switch {
	case p.Slice != nil:
		s.Operator(":" + f.number(p.Slice.Offset))
		if p.Slice.Length != nil {
			s.Operator(":" + f.number(p.Slice.Length))
		}
	case p.Repl != nil:
		s.Operator(map[bool]string{false: "/", true: "//"}[p.Repl.All])
		f.operand(s, p.Repl.Orig, quoted, true)
		s.Quoted('/')
		f.operand(s, p.Repl.With, quoted, true)
	case p.Exp != nil:
		op := p.Exp.Op.String()
		s.Operator(op)
		f.operand(s, p.Exp.Word, quoted, op[0] == '%' || op[0] == '#')
	}
	s.Close()
}

// number is the text of an expression that is a number, or @ or *.
func (f *flattener) number(x syntax.ArithmExpr) string {
	if word, ok := x.(*syntax.Word); ok {
		return word.Lit()
	}
	f.foreign(x)
	return ""
}

// operand adds the word in ${name:-word}. In a pattern * and ? are active also inside quotes.
func (f *flattener) operand(s *subset.Spelling, word *syntax.Word, quoted, pattern bool) {
	if word == nil {
		return
	}
	for _, part := range word.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			f.parts(s, []syntax.WordPart{part}, quoted)
			continue
		}
		for i, c := range lit.Value {
			switch {
			case pattern && (c == '*' || c == '?'):
				s.Unquoted(c)
			case pattern && c == '\\' && strings.HasPrefix(lit.Value[i:], `\/`):
			default:
				s.Quoted(c)
			}
		}
	}
}
