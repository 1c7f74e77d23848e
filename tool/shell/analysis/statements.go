package analysis

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// stmts walks statements one after another; the last one's outcome is that of the list.
func (w *walker) stmts(list []*syntax.Stmt, s *state) outcome {
	last := outcome{ok: s.folders, fail: s.folders, sure: true}
	for _, stmt := range list {
		last = w.stmt(stmt, s)
		s.folders = last.either()
	}
	return last
}

// stmt walks one statement with its redirections.
func (w *walker) stmt(stmt *syntax.Stmt, s *state) outcome {
	if w.over {
		return stays(folders{})
	}
	if stmt.Background || stmt.Coprocess {
		w.apart(func() { w.command(stmt, s.fork()) })
		return outcome{ok: s.folders, fail: s.folders, sure: true}
	}
	o := w.command(stmt, s)
	if stmt.Negated {
		o = o.negated()
	}
	return o
}

// runsOn reports whether a word follows the last redirection of a compound command without a
// separator, which bash does not read.
func (w *walker) runsOn(stmt *syntax.Stmt) bool {
	end := int(stmt.Redirs[len(stmt.Redirs)-1].Word.End().Offset())
	if end > len(w.at.text) {
		return true
	}
	rest := strings.TrimLeft(w.at.text[end:], " \t")
	return rest != "" && (rest[0] == '}' || isNameByte(rest[0]))
}

// command walks the command of a statement in the state.
func (w *walker) command(stmt *syntax.Stmt, s *state) outcome {
	if call, ok := stmt.Cmd.(*syntax.CallExpr); ok {
		return w.call(call, stmt.Redirs, s)
	}
	if len(stmt.Redirs) > 0 {
		w.redirects(stmt.Redirs, s, 0)
		if w.runsOn(stmt) {
			w.unknown(0, stmt, "what follows its redirections is not separated from them: the shell does not read it")
		}
		o := w.compound(stmt, s.fork())
		return outcome{ok: o.ok, fail: o.fail.or(s.folders)} // if one of them fails it does not run
	}
	return w.compound(stmt, s)
}

// compound walks a command that is not simple.
func (w *walker) compound(stmt *syntax.Stmt, s *state) outcome {
	switch cmd := stmt.Cmd.(type) {
	case nil: // only redirections
	case *syntax.BinaryCmd:
		return w.binary(cmd, s)
	case *syntax.Block:
		return w.stmts(cmd.Stmts, s)
	case *syntax.Subshell:
		w.apart(func() { w.stmts(cmd.Stmts, s.fork()) })
	case *syntax.IfClause:
		return w.ifClause(cmd, s)
	case *syntax.WhileClause:
		return w.whileLoop(cmd, s)
	case *syntax.ForClause:
		return w.forLoop(cmd, s)
	case *syntax.CaseClause:
		return w.caseClause(cmd, s)
	case *syntax.FuncDecl:
		w.declare(cmd, s)
	case *syntax.ArithmCmd:
		w.arithmetic(cmd.X, s, cmd)
	case *syntax.LetClause:
		for _, x := range cmd.Exprs {
			w.letExpression(x, s, cmd)
		}
	case *syntax.TestClause:
		at := w.at
		at.test = true
		w.inside(at, func() { w.condition(cmd.X, s, cmd) })
	case *syntax.DeclClause:
		w.declaration(cmd, s)
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			return w.stmt(cmd.Stmt, s.fork())
		}
		w.unknown(0, cmd, "time without a command, which bash may read differently")
	case *syntax.CoprocClause:
		w.coproc(cmd, s)
	default:
		w.unknown(0, stmt, "a construct that is not known")
	}
	return stays(s.folders)
}

func (w *walker) coproc(cmd *syntax.CoprocClause, s *state) {
	name := "COPROC"
	if cmd.Name != nil {
		name = cmd.Name.Lit()
	}
	if !isName(name) {
		w.unknown(0, cmd, "a coprocess whose name is not known")
	} else {
		w.declareShape(name, array)
		w.assign(name, variable{}, assigner{node: cmd}, s)
	}
	call, simple := cmd.Stmt.Cmd.(*syntax.CallExpr)
	switch {
	case !simple && !compound(cmd.Stmt):
		w.unknown(0, cmd, "a coprocess that bash does not read")
	case simple && strings.Contains(w.source(call), "["): // bash looks for the end of a subscript
		w.unknown(0, cmd, "a coprocess with a bracket, which bash may read differently")
	}
	w.apart(func() { w.stmt(cmd.Stmt, s.fork()) })
}

// binary walks lists and pipes. A long chain leans to the left, so it is unrolled and
// not followed by recursion.
func (w *walker) binary(cmd *syntax.BinaryCmd, s *state) outcome {
	chain := []*syntax.BinaryCmd{cmd}
	for {
		left := chain[len(chain)-1].X
		next, ok := left.Cmd.(*syntax.BinaryCmd)
		if !ok || left.Negated || left.Background || left.Coprocess || len(left.Redirs) > 0 {
			break
		}
		chain = append(chain, next)
	}
	first := chain[len(chain)-1]
	o := w.element(first.X, first.Op, s)
	for i := len(chain) - 1; i >= 0; i-- {
		o = w.link(chain[i], o, s)
	}
	return o
}

// element walks the first command of a chain: in a pipe it is a shell of its own.
func (w *walker) element(stmt *syntax.Stmt, op syntax.BinCmdOperator, s *state) outcome {
	if op == syntax.Pipe || op == syntax.PipeAll {
		w.apart(func() { w.stmt(stmt, s.fork()) })
		return stays(s.folders)
	}
	return w.stmt(stmt, s)
}

// link walks the right side of one operator after its left side had outcome o.
func (w *walker) link(cmd *syntax.BinaryCmd, o outcome, s *state) outcome {
	branch := s.fork()
	switch cmd.Op {
	case syntax.AndStmt:
		branch.folders = o.ok
		return o.and(w.stmt(cmd.Y, branch))
	case syntax.OrStmt:
		branch.folders = o.fail
		return o.or(w.stmt(cmd.Y, branch))
	}
	at := w.at
	at.piped, at.listed = true, w.pipedInto(cmd)
	w.inside(at, func() { w.apart(func() { w.stmt(cmd.Y, branch) }) })
	return stays(s.folders)
}

func (w *walker) ifClause(cmd *syntax.IfClause, s *state) outcome {
	o := w.stmts(cmd.Cond, s.fork())
	then := s.fork()
	then.folders = o.ok
	result := w.stmts(cmd.Then, then)
	other := s.fork()
	other.folders = o.fail
	rest := outcome{ok: o.fail, fail: o.fail, sure: true}
	switch {
	case cmd.Else == nil:
	case cmd.Else.ThenPos.IsValid():
		rest = w.ifClause(cmd.Else, other)
	default:
		rest = w.stmts(cmd.Else.Then, other)
	}
	if o.sure {
		return result
	}
	return result.merge(rest)
}

func (w *walker) caseClause(cmd *syntax.CaseClause, s *state) outcome {
	w.single(cmd.Word, s)
	o := outcome{ok: s.folders, fail: s.folders, sure: true}
	falls := false // the item before goes on into this one
	for _, item := range cmd.Items {
		for _, pattern := range item.Patterns {
			w.pattern(pattern, s)
		}
		branch := s.fork()
		if falls {
			branch.folders = o.either()
		}
		o = o.merge(w.stmts(item.Stmts, branch))
		falls = item.Op != syntax.Break
	}
	return o
}
