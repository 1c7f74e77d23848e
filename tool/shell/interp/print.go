package interp

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// nodeText returns a node as it was written, or as the parser's printer writes it if
// the text is not known.
func (src *Source) nodeText(node syntax.Node) string {
	from, to := node.Pos(), node.End()
	if from.IsValid() && to.IsValid() && from.Offset() <= to.Offset() && to.Offset() <= uint(len(src.Text)) {
		return src.Text[from.Offset():to.Offset()]
	}
	switch n := node.(type) {
	case *syntax.BinaryTest, *syntax.UnaryTest, *syntax.ParenTest:
		node = &syntax.TestClause{X: n.(syntax.TestExpr)}
	case *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm:
		node = &syntax.ArithmCmd{X: n.(syntax.ArithmExpr)}
	}
	var sb strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&sb, node); err != nil {
		return ""
	}
	text := sb.String()
	switch node.(type) {
	case *syntax.TestClause, *syntax.ArithmCmd:
		text = strings.TrimSpace(text[2 : len(text)-2])
	}
	return text
}

func (s *shell) nodeText(node syntax.Node) string { return s.src.nodeText(node) }

// commandText is BASH_COMMAND, and what a job is called.
func (s *shell) commandText() string {
	if s.current == nil {
		return ""
	}
	return stmtText(s.src, s.current)
}

// stmtText prints a statement in bash's own layout.
func stmtText(src *Source, st *syntax.Stmt) string {
	p := &bashPrinter{src: src}
	p.stmt(st)
	p.heredocs()
	return strings.TrimRight(p.sb.String(), "\n")
}

// functionText prints a function as declare -f does.
func functionText(f *function) string { return f.name + " () \n" + functionBody(f) }

func functionBody(f *function) string {
	p := &bashPrinter{src: f.src, inFunc: true}
	p.body(f.body)
	return p.sb.String()
}

// A bashPrinter prints commands as bash's print_cmd.c does.
type bashPrinter struct {
	src    *Source
	sb     strings.Builder
	indent int
	inFunc bool
	later  []*syntax.Redirect // here-documents, to be printed at the end of the line
}

func (p *bashPrinter) put(parts ...string) {
	for _, s := range parts {
		p.sb.WriteString(s)
	}
}

func (p *bashPrinter) newline(s string) {
	p.put("\n", strings.Repeat(" ", p.indent), s)
}

func (p *bashPrinter) word(n syntax.Node) { p.put(p.src.nodeText(n)) }

// heredocs prints the waiting here-documents, and reports whether there were any.
func (p *bashPrinter) heredocs() bool {
	if len(p.later) == 0 {
		return false
	}
	for _, rd := range p.later {
		p.put("\n")
		if rd.Hdoc != nil {
			for _, part := range rd.Hdoc.Parts {
				if lit, ok := part.(*syntax.Lit); ok {
					p.put(lit.Value)
				} else {
					p.word(part)
				}
			}
		}
		var end strings.Builder
		for _, part := range rd.Word.Parts {
			switch part := part.(type) {
			case *syntax.Lit:
				end.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
			case *syntax.SglQuoted:
				end.WriteString(part.Value)
			case *syntax.DblQuoted:
				for _, in := range part.Parts {
					end.WriteString(p.src.nodeText(in))
				}
			}
		}
		p.put(end.String(), "\n")
	}
	p.later = nil
	return true
}

// body prints a function's body, always in braces.
func (p *bashPrinter) body(st *syntax.Stmt) {
	stmts := []*syntax.Stmt{st}
	var redirs []*syntax.Redirect
	if block, ok := st.Cmd.(*syntax.Block); ok {
		stmts, redirs = block.Stmts, st.Redirs
	}
	p.put(strings.Repeat(" ", p.indent), "{ ")
	p.indent += 4
	p.newline("")
	p.list(stmts)
	p.heredocs()
	p.indent -= 4
	p.newline("}")
	p.redirects(redirs)
}

// list prints statements, without a semicolon after the last.
func (p *bashPrinter) list(stmts []*syntax.Stmt) {
	for i, st := range stmts {
		p.stmt(st)
		if st.Background {
			p.put(" &")
			if i < len(stmts)-1 {
				p.put(" ")
			}
			continue
		}
		if i == len(stmts)-1 {
			break
		}
		had := p.heredocs()
		if !had {
			p.put(";")
		}
		if p.inFunc {
			p.newline("")
		} else {
			p.put(" ")
		}
	}
}

// block prints the commands between two keywords, each ending in a semicolon.
func (p *bashPrinter) block(stmts []*syntax.Stmt) {
	p.indent += 4
	p.newline("")
	p.list(stmts)
	if !p.heredocs() && (len(stmts) == 0 || !stmts[len(stmts)-1].Background) {
		p.put(";")
	}
	p.indent -= 4
}

func (p *bashPrinter) stmt(st *syntax.Stmt) {
	if st.Negated {
		p.put("! ")
	}
	p.command(st.Cmd)
	if _, ok := st.Cmd.(*syntax.FuncDecl); !ok {
		p.redirects(st.Redirs)
	}
}

func (p *bashPrinter) redirects(rds []*syntax.Redirect) {
	for _, rd := range rds {
		p.put(" ")
		n := ""
		if rd.N != nil {
			n = rd.N.Value
		}
		op := rd.Op.String()
		switch rd.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			p.later = append(p.later, rd)
			p.put(n, op)
			p.word(rd.Word)
		case syntax.DplOut, syntax.DplIn:
			if n == "" {
				n = "1"
				if rd.Op == syntax.DplIn {
					n = "0"
				}
			}
			p.put(n, op)
			p.word(rd.Word)
		default:
			p.put(n, op, " ")
			p.word(rd.Word)
		}
	}
}

func (p *bashPrinter) words(nodes []*syntax.Word) {
	for i, w := range nodes {
		if i > 0 {
			p.put(" ")
		}
		p.word(w)
	}
}

func (p *bashPrinter) command(cmd syntax.Command) {
	switch cm := cmd.(type) {
	case *syntax.CallExpr:
		for i, as := range cm.Assigns {
			if i > 0 {
				p.put(" ")
			}
			p.word(as)
		}
		if len(cm.Assigns) > 0 && len(cm.Args) > 0 {
			p.put(" ")
		}
		p.words(cm.Args)
	case *syntax.DeclClause:
		p.put(cm.Variant.Value)
		for _, as := range cm.Args {
			p.put(" ")
			p.word(as)
		}
	case *syntax.LetClause:
		p.put("let")
		for _, e := range cm.Exprs {
			p.put(" ")
			p.word(e)
		}
	case *syntax.BinaryCmd:
		p.stmt(cm.X)
		p.put(" ", cm.Op.String(), " ")
		p.stmt(cm.Y)
	case *syntax.Block:
		p.put("{ ")
		if !p.inFunc {
			p.list(cm.Stmts)
			p.put("; }")
			return
		}
		p.indent += 4
		p.newline("")
		p.list(cm.Stmts)
		p.heredocs()
		p.indent -= 4
		p.newline("}")
	case *syntax.Subshell:
		p.put("( ")
		p.list(cm.Stmts)
		p.put(" )")
	case *syntax.IfClause:
		p.ifClause(cm)
	case *syntax.WhileClause:
		word := "while "
		if cm.Until {
			word = "until "
		}
		p.put(word)
		p.list(cm.Cond)
		p.put("; do")
		p.block(cm.Do)
		p.newline("done")
	case *syntax.ForClause:
		p.forClause(cm)
	case *syntax.CaseClause:
		p.put("case ")
		p.word(cm.Word)
		p.put(" in ")
		p.indent += 4
		for _, item := range cm.Items {
			p.newline("")
			for i, pat := range item.Patterns {
				if i > 0 {
					p.put(" | ")
				}
				p.word(pat)
			}
			p.put(")")
			p.indent += 4
			p.newline("")
			p.list(item.Stmts)
			p.heredocs()
			p.indent -= 4
			op := item.Op.String()
			if !item.OpPos.IsValid() {
				op = ";;"
			}
			p.newline(op)
		}
		p.indent -= 4
		p.newline("esac")
	case *syntax.FuncDecl:
		if cm.Name != nil {
			p.put("function ", cm.Name.Value, " () \n")
		}
		p.body(cm.Body)
	case *syntax.ArithmCmd:
		p.put("((")
		if cm.Left.IsValid() && cm.Right.Offset() <= uint(len(p.src.Text)) && cm.Left.Offset()+2 <= cm.Right.Offset() {
			p.put(p.src.Text[cm.Left.Offset()+2 : cm.Right.Offset()])
		} else {
			p.put(" ", p.src.nodeText(cm.X), " ")
		}
		p.put("))")
	case *syntax.TestClause:
		p.put("[[ ", p.src.nodeText(cm.X), " ]]")
	case *syntax.TimeClause:
		p.put("time ")
		if cm.PosixFormat {
			p.put("-p ")
		}
		if cm.Stmt != nil {
			p.stmt(cm.Stmt)
		}
	}
}

func (p *bashPrinter) ifClause(cm *syntax.IfClause) {
	p.put("if ")
	p.list(cm.Cond)
	p.put("; then")
	p.block(cm.Then)
	if cm.Else != nil {
		p.newline("else")
		if len(cm.Else.Cond) == 0 && !cm.Else.ThenPos.IsValid() {
			p.block(cm.Else.Then)
		} else {
			p.indent += 4
			p.newline("")
			p.ifClause(cm.Else)
			p.put(";")
			p.indent -= 4
		}
	}
	p.newline("fi")
}

func (p *bashPrinter) forClause(cm *syntax.ForClause) {
	switch loop := cm.Loop.(type) {
	case *syntax.WordIter:
		word := "for "
		if cm.Select {
			word = "select "
		}
		p.put(word, loop.Name.Value, " in ", iterText(p.src, loop), ";")
	case *syntax.CStyleLoop:
		text := func(e syntax.ArithmExpr) string {
			if e == nil {
				return "1"
			}
			return p.src.nodeText(e)
		}
		p.put("for ((", text(loop.Init), "; ", text(loop.Cond), "; ", text(loop.Post), "))")
	}
	p.newline("do")
	p.block(cm.Do)
	p.newline("done")
}

// iterText is the list of a for loop.
func iterText(src *Source, loop *syntax.WordIter) string {
	if !loop.InPos.IsValid() {
		return `"$@"`
	}
	var parts []string
	for _, w := range loop.Items {
		parts = append(parts, src.nodeText(w))
	}
	return strings.Join(parts, " ")
}

// trace prints a line of set -x.
func (s *shell) trace(text string) {
	if !s.opt.xtrace || s.tracing {
		return
	}
	s.tracing = true
	defer func() { s.tracing = false }()
	d := s.fds[2]
	if fd := s.get("BASH_XTRACEFD"); fd != "" {
		if n, ok := fdNumber(fd); ok && s.fds[n] != nil {
			d = s.fds[n]
		}
	}
	if d == nil {
		return
	}
	v, _ := s.find("PS4")
	ps4, ok := v.scalar()
	if !ok {
		ps4 = ""
	}
	status := s.status
	ps4 = s.prompt(ps4)
	s.status = status
	if ps4 != "" && s.traceDepth > 0 {
		ps4 = strings.Repeat(ps4[:1], s.traceDepth) + ps4
	}
	s.writeFd(d, []byte(ps4+text+"\n"))
}

func (s *shell) traceArgs(args []string) {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = quoteTrace(a)
	}
	s.trace(strings.Join(quoted, " "))
}

// prompt expands the escapes of a prompt, and then its text.
func (s *shell) prompt(text string) string {
	if strings.IndexByte(text, '\\') >= 0 {
		var sb strings.Builder
		for i := 0; i < len(text); i++ {
			if text[i] != '\\' || i+1 == len(text) {
				sb.WriteByte(text[i])
				continue
			}
			i++
			switch text[i] {
			case 'w':
				sb.WriteString(s.tilded(s.dir))
			case 'W':
				sb.WriteString(s.dir[strings.LastIndexByte(s.dir, '/')+1:])
			case 'h', 'H':
				host := s.get("HOSTNAME")
				if text[i] == 'h' {
					host, _, _ = strings.Cut(host, ".")
				}
				sb.WriteString(host)
			case 'u':
				sb.WriteString(s.get("USER"))
			case 'n':
				sb.WriteByte('\n')
			case 'r':
				sb.WriteByte('\r')
			case 'e':
				sb.WriteByte(0x1b)
			case 'a':
				sb.WriteByte('\a')
			case '$':
				if s.get("EUID") == "0" {
					sb.WriteByte('#')
				} else {
					sb.WriteByte('$')
				}
			case 's':
				sb.WriteString("bash")
			case 'v':
				sb.WriteString(bashVersion[:3])
			case 'V':
				sb.WriteString(bashVersion[:6])
			case '[', ']':
			case '\\':
				sb.WriteString(`\\`)
			default:
				s.unsupported(`\`+string(text[i])+" in a prompt", s.pos)
			}
		}
		text = sb.String()
	}
	if !strings.ContainsAny(text, "$`\\") {
		return text
	}
	word, err := newParser().Document(strings.NewReader(text))
	if err != nil || word == nil {
		return text
	}
	defer s.from(&Source{Origin: Value, Text: text})()
	return s.document(word)
}
