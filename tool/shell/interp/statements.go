package interp

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/syntax"
)

// lastStmt returns the simple command that a statement ends with.
func lastStmt(st *syntax.Stmt) *syntax.Stmt {
	for {
		b, ok := st.Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.AndStmt && b.Op != syntax.OrStmt {
			return st
		}
		st = b.Y
	}
}

func (s *shell) stmts(list []*syntax.Stmt) {
	for _, st := range list {
		s.stmt(st)
		if s.flow.kind != 0 {
			return
		}
	}
}

func (s *shell) stmt(st *syntax.Stmt) {
	s.check()
	s.runTraps()
	s.reapJobs()
	if s.opt.noexec || s.flow.kind != 0 {
		return
	}
	if st.Coprocess || st.Disown {
		s.unsupported("|& or &! of another shell", st.Pos())
	}
	if st.Background {
		s.background(st)
		return
	}
	s.command(st)
}

// quietly runs f where a failure is expected, so that set -e does not end the shell.
func (s *shell) quietly(f func()) {
	s.noErr++
	defer func() { s.noErr-- }()
	f()
}

func (s *shell) command(st *syntax.Stmt) {
	switch {
	case !st.Negated:
		s.perform(st)
		return
	case s.opt.errexit:
		s.quietly(func() { s.perform(st) })
	default:
		s.perform(st)
	}
	if s.flow.kind == 0 {
		s.status = int(truth(s.status == 0))
	}
}

// perform runs a statement without its "!" and "&".
func (s *shell) perform(st *syntax.Stmt) {
	_, s.errTrap = s.traps["ERR"]
	had := s.errTrap
	whole := true // it is not made of other commands, whose failure counts on its own
	switch cm := st.Cmd.(type) {
	case *syntax.CallExpr:
		s.simple(st, cm)
	case *syntax.DeclClause:
		s.declClause(st, cm)
	case *syntax.BinaryCmd:
		switch cm.Op {
		case syntax.AndStmt, syntax.OrStmt:
			s.quietly(func() { s.stmt(cm.X) })
			if s.flow.kind == 0 && (s.status == 0) == (cm.Op == syntax.AndStmt) {
				s.stmt(cm.Y)
			}
			whole = false
		default:
			s.pipeline(cm)
		}
	default:
		whole = s.redirected(st)
	}
	if whole && !st.Negated {
		s.errTrap = had
		s.failed()
	}
}

// redirected runs a compound command with its redirections, and reports whether its
// failure is its own.
func (s *shell) redirected(st *syntax.Stmt) bool {
	s.at(st.Pos())
	if st.Cmd == nil {
		s.substState = -1
	}
	marks := len(s.procSubs)
	defer s.closeProcSubs(marks)
	undo, ok := s.redirect(st.Redirs)
	defer undo()
	if !ok {
		s.leaf(1)
		return true
	}
	return s.compound(st)
}

// leaf sets the status of a command that is not made of others.
func (s *shell) leaf(status int) {
	s.status = status
	s.pipeStatus = []int{status}
}

// failed runs the ERR trap and obeys set -e.
func (s *shell) failed() {
	if s.status == 0 || s.noErr > 0 || s.flow.kind != 0 {
		return
	}
	if t, ok := s.traps["ERR"]; ok && s.errTrap && !t.inherited && t.action != "" &&
		(s.opt.errtrace || s.funcDepth() <= t.depth) && s.inTrap == 0 {
		status, line, pipes := s.status, s.line, s.pipeStatus
		s.inTrap++
		s.runTrap("ERR", t)
		s.inTrap--
		s.status, s.line, s.pipeStatus = status, line, pipes
	}
	if s.opt.errexit && s.flow.kind == 0 {
		panic(exiting{s.status})
	}
}

func (s *shell) funcDepth() int {
	n := 0
	for _, f := range s.frames {
		if f.isFunc {
			n++
		}
	}
	return n
}

// compound runs a compound command, and reports whether its failure is its own and not
// one of the commands in it.
func (s *shell) compound(st *syntax.Stmt) bool {
	switch cm := st.Cmd.(type) {
	case nil:
		s.leaf(max(s.substState, 0)) // of a here-document
	case *syntax.Block:
		s.stmts(cm.Stmts)
		return false
	case *syntax.Subshell:
		s.current = st
		c := s.sub()
		if n := len(cm.Stmts); n > 0 {
			c.last = lastStmt(cm.Stmts[n-1])
		}
		status := c.run(func() { c.stmts(cm.Stmts) })
		if c.killed != 0 {
			s.tellSignal(c.pid, c.killed, s.commandText(), true)
		}
		s.leaf(status)
	case *syntax.IfClause:
		s.ifClause(cm)
		return false
	case *syntax.WhileClause:
		s.while(cm)
		return false
	case *syntax.ForClause:
		s.forClause(cm)
		return false
	case *syntax.CaseClause:
		s.caseClause(cm)
		return false
	case *syntax.FuncDecl:
		if cm.Name == nil || len(cm.Names) > 0 || simpleBody(cm) {
			s.unsupported("a function of another shell", cm.Pos())
		}
		s.define(cm)
	case *syntax.ArithmCmd:
		s.arithmCmd(cm)
	case *syntax.LetClause:
		s.let(cm)
	case *syntax.TestClause:
		s.debug(func() string { return s.nodeText(cm) })
		s.leaf(s.testClause(cm))
	case *syntax.TimeClause:
		s.time(cm)
		return false
	case *syntax.CoprocClause:
		s.unsupported("coproc", cm.Pos())
	default:
		s.unsupported("a command of another shell", st.Pos())
	}
	return true
}

func (s *shell) ifClause(cm *syntax.IfClause) {
	for ; cm != nil; cm = cm.Else {
		if cm.ThenPos.IsValid() || len(cm.Cond) > 0 {
			s.quietly(func() { s.stmts(cm.Cond) })
			if s.flow.kind != 0 {
				return
			}
			if s.status != 0 {
				continue
			}
		}
		s.stmts(cm.Then)
		return
	}
	s.status = 0
}

// body runs a loop's body once, and reports whether the loop goes on.
func (s *shell) body(stmts []*syntax.Stmt) bool {
	s.stmts(stmts)
	switch s.flow.kind {
	case 0:
		return true
	case 'b', 'c':
		s.flow.n--
		again := s.flow.kind == 'c' && s.flow.n == 0
		if s.flow.n == 0 {
			s.flow = flow{}
		}
		return again
	}
	return false
}

// looping marks that break and continue mean something.
func (s *shell) looping() func() {
	s.loops++
	return func() { s.loops-- }
}

func (s *shell) while(cm *syntax.WhileClause) {
	defer s.looping()()
	status := 0
	for {
		s.check()
		s.quietly(func() { s.stmts(cm.Cond) })
		if s.flow.kind != 0 {
			// break in the condition
			if s.flow.kind != 'r' {
				if s.flow.n--; s.flow.n == 0 {
					again := s.flow.kind == 'c'
					s.flow = flow{}
					if again {
						continue
					}
				}
			}
			return
		}
		if (s.status == 0) == cm.Until {
			s.status = status
			return
		}
		again := s.body(cm.Do)
		status = s.status
		if !again {
			return
		}
	}
}

func (s *shell) forClause(cm *syntax.ForClause) {
	defer s.looping()()
	if cm.Select {
		s.selectLoop(cm)
		return
	}
	switch loop := cm.Loop.(type) {
	case *syntax.WordIter:
		if !syntax.ValidName(loop.Name.Value) {
			s.at(cm.Pos())
			s.warn("`%s': not a valid identifier", loop.Name.Value)
			s.leaf(1)
			return
		}
		items := s.params
		if loop.InPos.IsValid() {
			items = s.fields(loop.Items)
		}
		status := 0
		for _, item := range items {
			s.check()
			s.at(cm.Pos())
			s.debug(func() string { return "for " + loop.Name.Value + " in " + iterText(s.src, loop) })
			if s.opt.xtrace {
				s.trace("for " + loop.Name.Value + " in " + iterText(s.src, loop))
			}
			if v, _ := s.find(loop.Name.Value); v != nil && v.attrs&attrNameref != 0 {
				v.str, v.set = item, true // the loop changes what is referred to
			} else if !s.assign(loop.Name.Value, "", false, item, false) {
				s.leaf(1)
				return
			}
			again := s.body(cm.Do)
			status = s.status
			if !again {
				break
			}
		}
		s.status = status
	case *syntax.CStyleLoop:
		status := 0
		eval := func(expr syntax.ArithmExpr) (int64, bool) {
			if expr == nil {
				return 1, true
			}
			s.at(cm.Pos())
			s.debug(func() string { return "((" + s.nodeText(expr) + "))" })
			if s.opt.xtrace {
				s.trace("(( " + s.nodeText(expr) + " ))")
			}
			return s.arithCommand(expr, "((", syntax.Pos{})
		}
		if _, ok := eval(loop.Init); !ok {
			s.status = 1
			return
		}
		for {
			s.check()
			n, ok := eval(loop.Cond)
			if !ok {
				status = 1
			}
			if n == 0 || !ok {
				break
			}
			again := s.body(cm.Do)
			status = s.status
			if !again {
				break
			}
			if _, ok := eval(loop.Post); !ok {
				status = 1
				break
			}
		}
		s.status = status
	}
}

func (s *shell) caseClause(cm *syntax.CaseClause) {
	s.debug(func() string { return "case " + s.nodeText(cm.Word) + " in " })
	if s.opt.xtrace {
		s.trace("case " + s.nodeText(cm.Word) + " in")
	}
	str := s.text(cm.Word)
	fall, matched := false, false
	for _, item := range cm.Items {
		if !fall && !slices.ContainsFunc(item.Patterns, func(w *syntax.Word) bool {
			return s.compile(s.pattern(w), s.opt.nocasematch).match(s, str)
		}) {
			continue
		}
		matched = true
		if len(item.Stmts) == 0 {
			s.status = 0
		}
		s.stmts(item.Stmts)
		if s.flow.kind != 0 {
			return
		}
		switch item.Op {
		case syntax.Fallthrough:
			fall = true
		case syntax.Resume:
			fall = false
		case syntax.ResumeKorn:
			s.unsupported(";| of another shell", item.OpPos)
		default:
			return
		}
	}
	if !matched {
		s.status = 0
	}
}

func (s *shell) define(cm *syntax.FuncDecl) {
	name := cm.Name.Value
	if old := s.funcs[name]; old != nil && old.readonly {
		s.warn("%s: readonly function", name)
		s.leaf(1)
		return
	}
	s.ownFuncs()
	file := cmp.Or(s.script, "environment")
	if n := len(s.frames); n > 0 && s.frames[n-1].file != "" {
		file = s.frames[n-1].file
	}
	f := &function{name: name, body: cm.Body, src: s.src, file: file, lineOff: s.lineOff}
	if old := s.funcs[name]; old != nil {
		f.exported = old.exported
	}
	s.funcs[name] = f
	s.leaf(0)
}

// ownFuncs makes the table of functions this shell's own before a change.
func (s *shell) ownFuncs() {
	if s.funcsShared {
		funcs := make(map[string]*function, len(s.funcs)+1)
		for name, f := range s.funcs {
			c := *f
			funcs[name] = &c
		}
		s.funcs, s.funcsShared = funcs, false
	}
}

// arithCommand evaluates for (( )) and let, which fail without dropping the line.
func (s *shell) arithCommand(expr syntax.ArithmExpr, who string, end syntax.Pos) (int64, bool) {
	if expr == nil {
		return 0, true
	}
	src := s.arithSource(expr)
	src.gap(expr.End(), end)
	return s.arithNamed(src, who)
}

func (s *shell) arithNamed(src *arithSrc, who string) (int64, bool) {
	n, err := s.evaluate(src.text(), src.keys)
	if err != nil {
		s.arithFailed(who+": ", err)
		return 0, false
	}
	return n, true
}

func (s *shell) arithmCmd(cm *syntax.ArithmCmd) {
	if cm.Unsigned {
		s.unsupported("unsigned arithmetic", cm.Pos())
	}
	s.debug(func() string { return s.nodeText(cm) })
	if s.opt.xtrace {
		s.trace("(( " + s.nodeText(cm.X) + " ))")
	}
	n, ok := s.arithCommand(cm.X, "((", cm.Right)
	s.leaf(int(truth(n == 0 || !ok)))
}

func (s *shell) let(cm *syntax.LetClause) {
	s.debug(func() string { return s.nodeText(cm) })
	// All words are expanded before the first is evaluated.
	var srcs []*arithSrc
	for _, expr := range cm.Exprs {
		srcs = append(srcs, s.arithSource(expr))
	}
	if s.opt.xtrace {
		args := []string{"let"}
		for _, src := range srcs {
			args = append(args, src.text())
		}
		s.traceArgs(args)
	}
	s.call(CallBuiltin, letArgs(srcs), nil)
	var n int64
	for _, src := range srcs {
		var ok bool
		if n, ok = s.arithNamed(src, "let"); !ok {
			s.leaf(1)
			return
		}
	}
	s.leaf(int(truth(n == 0)))
}

func letArgs(srcs []*arithSrc) []string {
	args := []string{"let"}
	for _, src := range srcs {
		args = append(args, src.text())
	}
	return args
}

// commandLine is the line by which bash knows a simple command: where its second word ends,
// since that could have made the first one a function's name.
func commandLine(st *syntax.Stmt, cm *syntax.CallExpr) uint {
	switch {
	case len(cm.Assigns) > 0:
		return cm.Assigns[0].End().Line()
	case len(cm.Args) > 1 && (len(st.Redirs) == 0 || st.Redirs[0].Pos().After(cm.Args[1].Pos())):
		return cm.Args[1].End().Line()
	case len(cm.Args) > 0:
		return cm.Args[0].End().Line()
	}
	return cm.Pos().Line()
}

// simple runs a simple command.
func (s *shell) simple(st *syntax.Stmt, cm *syntax.CallExpr) {
	s.at(cm.Pos())
	line := commandLine(st, cm) + s.lineOff
	s.line = line
	s.current = st
	s.substState = -1
	marks := len(s.procSubs)
	defer s.closeProcSubs(marks)
	if s.opt.expandAliases && len(cm.Args) > 0 {
		if _, ok := s.aliases[cm.Args[0].Lit()]; ok {
			s.unsupported("an alias", cm.Pos())
		}
	}
	if reservedFirst(cm) && (len(st.Redirs) == 0 || st.Redirs[0].Pos().After(cm.Pos())) {
		s.unsupported("a reserved word as a command", cm.Pos())
	}
	s.debug(nil)
	args := s.fields(cm.Args)
	s.pos = cm.Pos()
	if len(args) == 0 {
		s.assignments(st, cm)
		return
	}
	pos := cm.Args[0].Pos()
	temp, added := s.temporary(cm.Assigns)
	s.line, s.pos = line, pos
	if s.opt.xtrace {
		s.traceArgs(args)
	}
	if strings.HasPrefix(args[0], "%") && !s.simpleStage {
		args = append([]string{"fg"}, args...) // a job
	}
	status := s.invoke(st, args, temp, added)
	s.current = st
	if ch := s.signalledChild; ch != nil {
		s.signalledChild = nil
		s.at(cm.Pos())
		s.tellSignal(ch.info.Pid, ch.status.Signal(), s.commandText(), true)
	}
	s.leaf(status)
	s.lastArg = args[len(args)-1]
}

// invoke runs an expanded command with its redirections and assignments.
func (s *shell) invoke(st *syntax.Stmt, args []string, temp *scope, added []string) int {
	f := s.funcs[args[0]]
	run, isBuiltin := builtins[args[0]]
	kind := CallProgram
	switch {
	case f != nil:
		kind = CallFunction
	case isBuiltin:
		kind = CallBuiltin
	}
	if kind != CallProgram {
		s.notProgram()
	}
	s.call(kind, args, added)
	undo, keep, ok := s.redirectKeep(st.Redirs)
	defer func() {
		if s.keepRedirs {
			s.keepRedirs = false
			keep()
			return
		}
		undo()
	}()
	if !ok {
		s.notProgram()
		return 1
	}
	if kind == CallFunction {
		return s.callFunction(f, args, temp)
	}
	if temp != nil {
		s.scopes = append(s.scopes, temp)
		depth := len(s.scopes)
		defer func() { s.scopes = s.scopes[:depth-1] }()
	}
	if kind == CallBuiltin {
		return s.runBuiltin(run, args)
	}
	return s.external(args, added, lookupPath)
}

func (s *shell) runBuiltin(run builtin, args []string) int {
	old := s.builtin
	s.builtin = args[0]
	defer func() { s.builtin = old }()
	return run(s, args)
}

// call asks the Call handler about a command.
func (s *shell) call(kind CallKind, args, added []string) {
	if s.r.h.Call == nil {
		return
	}
	if err := s.r.h.Call(s.ctx, &CallRequest{s.act(), kind, args, added}); err != nil {
		s.stop(err)
	}
	s.check()
}

// assignments runs a command that has none but assignments and redirections.
func (s *shell) assignments(st *syntax.Stmt, cm *syntax.CallExpr) {
	s.notProgram()
	for _, as := range cm.Assigns {
		s.assignStmt(as)
	}
	undo, ok := s.redirect(st.Redirs)
	undo()
	status := max(s.substState, 0)
	if !ok {
		status = 1
	}
	s.lastArg = ""
	s.leaf(status)
}

// assignStmt does name=value, name[i]=value, name+=value and name=(...).
func (s *shell) assignStmt(as *syntax.Assign) {
	name := as.Name.Value
	if as.Array != nil {
		if s.opt.xtrace {
			s.trace(s.nodeText(as))
		}
		if !s.assignArray(name, as.Array, as.Append, 0, nil) {
			s.dropLine()
		}
		return
	}
	sub, hasSub := "", as.Index != nil
	if hasSub {
		if allOf(as.Index) != 0 {
			if v := s.lookup(name); v == nil || v.attrs&attrAssoc == 0 {
				s.fail("%s[%c]: bad array subscript", name, allOf(as.Index))
			}
		}
		sub = s.subscript(name, as.Index)
	}
	value := s.textAs(as.Value, wholeAssign)
	if s.opt.xtrace {
		op := "="
		if as.Append {
			op = "+="
		}
		head := name
		if hasSub {
			head += "[" + s.nodeText(as.Index) + "]"
		}
		s.trace(head + op + quoteAssigned(value))
	}
	if !s.assign(name, sub, hasSub, value, as.Append) {
		s.dropLine()
	}
}

// arrayElem is an element of name=(...) after its expansion.
type arrayElem struct {
	key    string
	hasKey bool
	value  string
}

// arrayElems expands the elements of name=(...).
func (s *shell) arrayElems(arr *syntax.ArrayExpr, assoc bool) []arrayElem {
	var elems []arrayElem
	size := 0
	for _, el := range arr.Elems {
		s.check()
		if el.Index == nil {
			for _, f := range s.fields([]*syntax.Word{el.Value}) {
				elems = append(elems, arrayElem{value: f})
				size += len(f) + 40
			}
			s.r.bound(s, size)
			continue
		}
		key := ""
		switch w, ok := el.Index.(*syntax.Word); {
		case assoc && ok:
			key = s.text(w)
		case assoc:
			key = s.arithSource(el.Index).text()
		default:
			key = strconv.FormatInt(s.arith(el.Index), 10)
		}
		elems = append(elems, arrayElem{key: key, hasKey: true, value: s.textAs(el.Value, wholeAssign)})
	}
	return elems
}

// assignArray does name=(...) for a variable that may get attributes with it. The
// scope is nil for the one in which the variable is found.
func (s *shell) assignArray(name string, arr *syntax.ArrayExpr, add bool, with attrs, sc *scope) bool {
	name, _ = s.resolve(name)
	v, _ := s.find(name)
	if sc != nil {
		v = sc.vars[name]
	}
	assoc := with&attrAssoc != 0 || v != nil && v.attrs&attrAssoc != 0
	elems := s.arrayElems(arr, assoc)
	return s.putArray(name, elems, add, with, sc)
}

func (s *shell) putArray(name string, elems []arrayElem, add bool, with attrs, sc *scope) bool {
	if sc == nil {
		sc = s.home(name)
	}
	v := s.writable(sc, name)
	if v == nil {
		return false
	}
	before := v.size()
	v.attrs |= with
	if v.attrs&attrAssoc != 0 {
		m := &assoc{vals: map[string]assocVal{}}
		if add {
			m = v.m.own()
		}
		for i := 0; i < len(elems); i++ {
			el := elems[i]
			if !el.hasKey {
				// Words without a subscript are keys and values by turns.
				key := el.value
				value := ""
				if i++; i < len(elems) {
					value = elems[i].value
				}
				el = arrayElem{key: key, value: value}
			}
			if el.key == "" {
				s.warn("%s: bad array subscript", "")
				continue
			}
			m.put(el.key, s.convert(v, "", el.value, false))
		}
		v.m = m
	} else {
		a := &array{}
		if add {
			if v.attrs&attrArray == 0 && v.set {
				a.put(0, v.str)
			} else {
				a = v.arr.own()
			}
		}
		v.attrs |= attrArray
		next := a.max() + 1
		for _, el := range elems {
			if el.hasKey {
				n, _ := strconv.Atoi(el.key)
				if n < 0 {
					if n += a.max() + 1; n < 0 {
						s.warn("%s[%s]: bad array subscript", name, el.key)
						continue
					}
				}
				next = n
			}
			a.put(next, s.convert(v, "", el.value, false))
			next++
		}
		v.arr = a
		v.str = ""
	}
	v.set = true
	s.r.grow(s, v.size()-before)
	s.changed(name, v)
	return true
}

// temporary expands A=b before a command. Later ones see earlier ones.
func (s *shell) temporary(assigns []*syntax.Assign) (*scope, []string) {
	if len(assigns) == 0 {
		return nil, nil
	}
	sc := &scope{vars: map[string]*variable{}, temp: true}
	s.scopes = append(s.scopes, sc)
	depth := len(s.scopes)
	defer func() { s.scopes = s.scopes[:depth-1] }()
	var added []string
	for _, as := range assigns {
		name := as.Name.Value
		if as.Array != nil || as.Index != nil {
			s.unsupported("an array before a command", as.Pos())
		}
		old, _ := s.find(name)
		value := s.textAs(as.Value, wholeAssign)
		if old != nil && old.attrs&attrReadonly != 0 {
			s.readonly(name)
			continue
		}
		if as.Append {
			before, _ := s.lookup(name).scalar()
			value = before + value
		}
		if s.opt.xtrace {
			s.trace(name + "=" + quoteAssigned(value))
		}
		s.varSeq++
		v := &variable{attrs: attrExport, set: true, str: value, seq: s.varSeq}
		if old != nil && old.attrs&attrInteger != 0 {
			v.attrs |= attrInteger
			v.str = s.convert(v, "", value, false)
		}
		sc.vars[name] = v
		added = append(added, name+"="+value)
	}
	return sc, added
}

func (s *shell) callFunction(f *function, args []string, temp *scope) int {
	s.deeper()
	sc := temp
	if sc == nil {
		sc = newScope()
	}
	sc.call, sc.temp = true, false
	old := *s
	s.scopes = append(slices.Clip(s.scopes), sc)
	s.params = args[1:]
	s.frames = append(slices.Clip(s.frames), frame{name: f.name, file: f.file, line: s.line, isFunc: true})
	s.loops = 0
	s.src, s.lineOff = f.src, f.lineOff
	defer func() {
		s.scopes, s.params, s.frames, s.loops = old.scopes, old.params, old.frames, old.loops
		s.src, s.line, s.lineOff = old.src, old.line, old.lineOff
		s.depth--
		if sc.opts != nil {
			s.opt = *sc.opts
		}
		for _, v := range sc.vars {
			s.r.grow(s, -v.size())
		}
	}()
	defer s.hideTraps()()
	s.debug(nil)
	s.command(f.body)
	if s.flow.kind == 0 {
		s.beforeReturn = s.status
	}
	if s.flow.kind == 'r' {
		s.flow = flow{}
	}
	s.returned()
	return s.status
}

// stages returns the commands of a pipeline.
func stages(cm *syntax.BinaryCmd) (list []*syntax.Stmt) {
	add := func(st *syntax.Stmt, both bool) {
		if both { // |& is 2>&1 |
			c := *st
			c.Redirs = append(slices.Clip(st.Redirs), &syntax.Redirect{
				OpPos: cm.OpPos, Op: syntax.DplOut, N: &syntax.Lit{ValuePos: cm.OpPos, ValueEnd: cm.OpPos, Value: "2"},
				Word: &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: cm.OpPos, ValueEnd: cm.OpPos, Value: "1"}}},
			})
			st = &c
		}
		list = append(list, st)
	}
	if x, ok := cm.X.Cmd.(*syntax.BinaryCmd); ok && (x.Op == syntax.Pipe || x.Op == syntax.PipeAll) &&
		len(cm.X.Redirs) == 0 && !cm.X.Negated {
		list = stages(x)
		last := list[len(list)-1]
		list = list[:len(list)-1]
		add(last, cm.Op == syntax.PipeAll)
	} else {
		add(cm.X, cm.Op == syntax.PipeAll)
	}
	return append(list, cm.Y)
}

// pipeline runs every stage in a subshell of its own.
func (s *shell) pipeline(cm *syntax.BinaryCmd) {
	list := stages(cm)
	statuses := make([]int, len(list))
	lead := s.lead
	s.lead = nil
	all := make(chan struct{}, len(list))
	running := 0
	var in *desc
	for i, st := range list {
		lastHere := i == len(list)-1 && s.opt.lastpipe
		var out *desc
		next := in
		in = nil
		if i < len(list)-1 {
			r, w, err := pipe()
			if err != nil {
				if next != nil {
					next.release()
				}
				s.fail("pipe error: %s", errText(err))
			}
			in, out = adopt(r), adopt(w)
		}
		if lastHere {
			old := s.fds[0]
			if old != nil {
				old.hold()
			}
			s.fds.put(0, next)
			func() {
				defer func() {
					s.fds.close(0)
					if old != nil {
						s.fds.put(0, old)
					}
				}()
				s.quietly(func() { s.stmt(st) })
			}()
			statuses[i] = s.status
			break
		}
		debugged := s.debugAhead(st)
		c := s.sub()
		c.inDebug = debugged
		_, c.simpleStage = st.Cmd.(*syntax.CallExpr)
		c.box = nil
		if next != nil {
			c.fds.put(0, next)
		}
		if out != nil {
			c.fds.put(1, out)
		}
		if i == len(list)-1 && lead != nil {
			if _, ok := st.Cmd.(*syntax.CallExpr); ok {
				c.lead = lead
			} else {
				c.ledByShell(lead)
			}
		}
		running++
		s.r.crowd.shells.Add(1)
		go func() {
			defer s.r.crowd.shells.Done()
			defer func() { all <- struct{}{} }()
			statuses[i] = c.detached(func() { c.unwrapped(st) })
		}()
	}
	// The scheduler would run the newest goroutine first; with this one behind them the
	// stages begin in their order, as they do in bash.
	go func() {}()
	for range running {
		s.await(all)
	}
	s.pipeStatus = statuses
	s.status = statuses[len(statuses)-1]
	if s.opt.pipefail {
		for _, st := range slices.Backward(statuses) {
			if st != 0 {
				s.status = st
				break
			}
		}
	}
}

// unwrapped runs a statement in a shell that was made for it: ( ) needs no further one.
func (s *shell) unwrapped(st *syntax.Stmt) {
	sub, ok := st.Cmd.(*syntax.Subshell)
	if !ok || st.Negated || st.Background {
		s.stmt(st)
		return
	}
	s.at(st.Pos())
	undo, ok := s.redirect(st.Redirs)
	defer undo()
	if !ok {
		s.leaf(1)
		s.failed()
		return
	}
	s.stmts(sub.Stmts)
}

// detached runs a subshell in a goroutine of its own, where a closed gate is the end of
// that goroutine alone: everybody else finds the gate closed too.
func (s *shell) detached(body func()) (status int) {
	defer func() {
		if p := recover(); p != nil {
			s.r.halt(p)
			status = 1
		}
	}()
	return s.run(body)
}

// await waits for others, unless the gate closes or a signal ends this shell.
func (s *shell) await(done <-chan struct{}) {
	for {
		var bell <-chan struct{}
		if s.box != nil {
			bell = s.box.bell
		}
		select {
		case <-done:
			return
		case <-s.r.gate.done:
			panic(halted{})
		case <-bell:
			s.check()
		}
	}
}

// substitute runs $(...) and returns its output.
func (s *shell) substitute(cs *syntax.CmdSubst) string {
	if cs.TempFile || cs.ReplyVar {
		s.unsupported("${ ...;} of another shell", cs.Pos())
	}
	if w := onlyInput(cs.Stmts); w != nil {
		return s.contents(w)
	}
	r, w, err := pipe()
	if err != nil {
		s.fail("cannot make pipe for command substitution: %s", errText(err))
	}
	in := adopt(r)
	c := s.sub()
	c.fds.put(1, adopt(w))
	if !s.opt.inheritErrexit {
		c.opt.errexit = false
	}
	c.traceDepth++
	c.countFrom(s.line, cs.Stmts)
	c.loops = s.loops // break ends the substitution
	text := ""
	done := make(chan struct{})
	reader := &shell{r: s.r, src: s.src, pos: s.pos, dir: s.dir}
	s.r.crowd.shells.Add(1)
	go func() {
		defer s.r.crowd.shells.Done()
		defer close(done)
		defer in.release()
		defer func() {
			if p := recover(); p != nil {
				s.r.halt(p)
			}
		}()
		text, _ = reader.readAll(in)
	}()
	status := c.run(func() { c.stmts(cs.Stmts) })
	s.await(done)
	s.check()
	s.substState = status
	s.status = status
	if strings.IndexByte(text, 0) >= 0 {
		s.warn("warning: command substitution: ignored null byte in input")
		text = strings.ReplaceAll(text, "\x00", "")
	}
	return strings.TrimRight(text, "\n")
}

// countFrom makes the lines of a substitution count from the line of its command, as in bash.
func (s *shell) countFrom(line uint, stmts []*syntax.Stmt) {
	if len(stmts) > 0 && line > 0 {
		s.lineOff = line - stmts[0].Pos().Line()
	}
}

// onlyInput returns the word of $(<file).
func onlyInput(stmts []*syntax.Stmt) *syntax.Word {
	if len(stmts) != 1 {
		return nil
	}
	st := stmts[0]
	if st.Cmd != nil || st.Negated || st.Background || len(st.Redirs) != 1 {
		return nil
	}
	if rd := st.Redirs[0]; rd.Op == syntax.RdrIn && (rd.N == nil || rd.N.Value == "0") {
		return rd.Word
	}
	return nil
}

func (s *shell) contents(w *syntax.Word) string {
	s.substState = 1
	path, ok := s.target(w)
	if !ok {
		return ""
	}
	s.pos = w.Pos()
	d, err := s.open(path, syscall.O_RDONLY, "read")
	if err != nil {
		s.warn("%s: %s", path, errText(err))
		return ""
	}
	defer d.release()
	text, err := s.readAll(d)
	if err != nil {
		s.warn("%s: %s", path, errText(err))
		return ""
	}
	s.substState = 0
	return strings.TrimRight(strings.ReplaceAll(text, "\x00", ""), "\n")
}

// procSubst starts <(...) or >(...), and returns the path of the descriptor.
func (s *shell) procSubst(ps *syntax.ProcSubst) string {
	if ps.Op == syntax.CmdInTemp {
		s.unsupported("=(...) of another shell", ps.Pos())
	}
	r, w, err := pipe()
	if err != nil {
		s.fail("cannot make pipe for process substitution: %s", errText(err))
	}
	ours, theirs, at := r, w, 1
	if ps.Op == syntax.CmdOut {
		ours, theirs, at = w, r, 0
	}
	c := s.sub()
	c.fds.put(at, adopt(theirs))
	j := s.newJob(c, "")
	j.procSub = true
	c.traceDepth++
	c.countFrom(s.line, ps.Stmts)
	c.loops = s.loops // break ends the substitution
	s.launch(c, j, func() { c.stmts(ps.Stmts) })
	n := s.fds.free(63, -1)
	s.fds.put(n, adopt(ours))
	s.procSubs = append(s.procSubs, n)
	s.lastBg = j
	return "/dev/fd/" + itoa(n)
}

// closeProcSubs closes the descriptors of process substitutions of an ended command.
func (s *shell) closeProcSubs(from int) {
	for len(s.procSubs) > from {
		n := s.procSubs[len(s.procSubs)-1]
		s.procSubs = s.procSubs[:len(s.procSubs)-1]
		s.fds.close(n)
	}
}
