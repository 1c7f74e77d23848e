package analysis

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/assent-dev/assent/tool/shell/programs"
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

// A way is how far the walk has gone to other folders, and out of loops and functions, in the
// shell that is walked. Comparing two of them says what happened between.
type way struct{ moves, jumps int }

// apart walks what runs in a shell of its own: it leaves the folder and the loops of this one
// alone, and so does what fails in it.
func (w *walker) apart(walk func()) {
	way, risky := w.way, w.risky
	walk()
	w.way, w.risky = way, risky
}

// loose walks a body that may run any number of times. If it leaves the folder in which it
// began, an earlier round may have left it too.
func (w *walker) loose(s *state, walk func(*state) outcome) outcome {
	w.changed = true // by an earlier round
	body := s.fork()
	if w.facts.roams {
		body.folders = folders{}
	}
	first, before := len(w.parts), w.way
	w.unordered++
	o := walk(body)
	w.unordered--
	w.rounds = append(w.rounds, span{first, len(w.parts)})
	switch {
	case w.way.moves == before.moves:
		return stays(s.folders)
	case w.way.jumps == before.jumps && slices.Equal(o.either().list, s.folders.list):
		return stays(s.folders.or(o.either()))
	}
	w.facts.learn(&w.facts.roams)
	return stays(folders{})
}

func (w *walker) whileLoop(cmd *syntax.WhileClause, s *state) outcome {
	return w.loose(s, func(body *state) outcome {
		o := w.stmts(cmd.Cond, body)
		inside := body.fork()
		inside.folders = o.ok
		if cmd.Until {
			inside.folders = o.fail
		}
		rest := w.stmts(cmd.Do, inside)
		return stays(o.either().or(rest.either()))
	})
}

func (w *walker) forLoop(cmd *syntax.ForClause, s *state) outcome {
	loop, ok := cmd.Loop.(*syntax.WordIter)
	if !ok {
		return w.countingLoop(cmd, cmd.Loop.(*syntax.CStyleLoop), s)
	}
	items := w.items(loop, s)
	name := loop.Name.Value
	if cmd.Select {
		w.assign("REPLY", variable{}, assigner{node: loop}, s.fork())
	}
	var o outcome
	switch known := !cmd.Select && w.iterates(loop, s); {
	case known && allKnown(items) && !w.spent:
		o = w.unroll(cmd, name, items, s)
	default:
		w.assignEach(loop, w.oneOf(items, s), known, s)
		o = w.loose(s, func(body *state) outcome { return w.stmts(cmd.Do, body) })
	}
	s.keep(name, variable{})
	return o
}

// iterates reports whether the variable of a loop holds an item in each round: no other place
// assigns it, and nothing before the loop used it that an earlier round of another may have
// left it to.
func (w *walker) iterates(loop *syntax.WordIter, s *state) bool {
	name := loop.Name.Value
	f := w.facts.of(name)
	inOrder := !s.lost && (w.unordered == 0 || f.used != w.facts.walk)
	return w.once(f, loop, inOrder) && !dynamic(name) && w.shapeOf(name)&changing == 0
}

// assignEach gives the variable of a loop the value of a round.
func (w *walker) assignEach(loop *syntax.WordIter, v variable, known bool, s *state) {
	name := loop.Name.Value
	if w.assigned(name, v, assigner{node: loop}); known {
		s.keep(name, v)
	}
}

// items are the words that a loop goes through.
func (w *walker) items(loop *syntax.WordIter, s *state) []programs.Word {
	if !loop.InPos.IsValid() {
		if w.paramsKnown(s) {
			return s.params
		}
		return []programs.Word{{Text: `"$@"`, Many: true}}
	}
	return w.fields(nil, loop.Items, s)
}

// unroll walks the body once for each item, as long as there is room for repetitions.
func (w *walker) unroll(cmd *syntax.ForClause, name string, items []programs.Word, s *state) outcome {
	w.changed = true
	body := s.fork()
	for i, item := range items {
		w.assignEach(cmd.Loop.(*syntax.WordIter), variable{value: item}, true, body)
		before := w.way
		walk := func() { body.folders = w.stmts(cmd.Do, body).either() }
		if i == 0 {
			walk()
		} else {
			w.repeating(walk)
		}
		if before.moves != w.way.moves && before.jumps != w.way.jumps { // the rest of the round may not have run
			body.folders = folders{}
		}
		if i+1 < len(items) && !w.mayRepeat() {
			body.folders = folders{}
			break
		}
	}
	return stays(body.folders)
}

func (w *walker) countingLoop(cmd *syntax.ForClause, loop *syntax.CStyleLoop, s *state) outcome {
	if loop.Init != nil {
		w.arithmetic(loop.Init, s, cmd)
	}
	return w.loose(s, func(body *state) outcome {
		if loop.Cond != nil {
			w.arithmetic(loop.Cond, body, cmd)
		}
		o := w.stmts(cmd.Do, body)
		if loop.Post != nil {
			w.arithmetic(loop.Post, body, cmd)
		}
		return o
	})
}

func allKnown(words []programs.Word) bool {
	for _, word := range words {
		if !word.Known {
			return false
		}
	}
	return true
}

// oneOf is a variable that holds one of the items: the names that a pattern stands for, if
// there is only that.
func (w *walker) oneOf(items []programs.Word, s *state) variable {
	if len(items) == 1 && items[0].Glob && !w.facts.adrift {
		if dir := s.folders.only(); dir != "" {
			return variable{value: programs.Word{Text: items[0].Text, Glob: true}, from: dir}
		}
	}
	return variable{numeric: allNumbers(items)}
}
