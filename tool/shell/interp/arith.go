package interp

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// arithSrc is the text of an arithmetic expression after its expansion, as bash reads
// it. Keys of associative arrays could be any text; they stand beside, and \x00N\x00
// in the text stands for the N-th.
type arithSrc struct {
	sb   strings.Builder
	keys []string
}

func (a *arithSrc) text() string { return a.sb.String() }

// arith evaluates $((...)), an index, and what else fails as an expansion does.
func (s *shell) arith(expr syntax.ArithmExpr) int64 {
	if expr == nil {
		return 0
	}
	if w, ok := expr.(*syntax.Word); ok {
		if n, err := strconv.ParseInt(w.Lit(), 10, 64); err == nil && (n == 0 || w.Lit()[0] != '0') {
			return n
		}
	}
	src := s.arithSource(expr)
	n, err := s.evaluate(src.text(), src.keys)
	if err != nil {
		s.arithFailed("", err)
		s.discard(1)
	}
	return n
}

// arithFailed reports an expression that cannot be computed.
func (s *shell) arithFailed(who string, err error) {
	if text := err.Error(); text != "" {
		s.warn("%s%s", who, text)
	}
}

// arithText evaluates text that came from a value.
func (s *shell) arithText(text string) int64 {
	n, err := s.evaluate(text, nil)
	if err != nil {
		s.arithFailed("", err)
		s.discard(1)
	}
	return n
}

// arithSource expands the words of an expression and puts it together again.
func (s *shell) arithSource(expr syntax.ArithmExpr) *arithSrc {
	src := &arithSrc{}
	s.flatten(src, expr)
	return src
}

// gap writes the white space between two places of the text.
func (a *arithSrc) gap(from, to syntax.Pos) {
	if from.IsValid() && to.IsValid() && to.Offset() > from.Offset() {
		n := to.Offset() - from.Offset()
		if to.Line() != from.Line() {
			n = 1
		}
		a.sb.WriteString(strings.Repeat(" ", int(min(n, 64))))
	}
}

func (s *shell) flatten(src *arithSrc, expr syntax.ArithmExpr) {
	gap := src.gap
	after := func(p syntax.Pos, n int) syntax.Pos {
		return syntax.NewPos(p.Offset()+uint(n), p.Line(), p.Col()+uint(n))
	}
	switch e := expr.(type) {
	case nil:
	case *syntax.Word:
		s.flattenWord(src, e)
	case *syntax.ParenArithm:
		src.sb.WriteByte('(')
		s.flatten(src, e.X)
		src.sb.WriteByte(')')
	case *syntax.UnaryArithm:
		op := e.Op.String()
		if e.Post {
			s.flatten(src, e.X)
			gap(e.X.End(), e.OpPos)
			src.sb.WriteString(op)
			return
		}
		src.sb.WriteString(op)
		gap(after(e.OpPos, len(op)), e.X.Pos())
		s.flatten(src, e.X)
	case *syntax.BinaryArithm:
		op := e.Op.String()
		s.flatten(src, e.X)
		gap(e.X.End(), e.OpPos)
		src.sb.WriteString(op)
		gap(after(e.OpPos, len(op)), e.Y.Pos())
		s.flatten(src, e.Y)
	default:
		s.unsupported("arithmetic of another shell", expr.Pos())
	}
	s.r.bound(s, src.sb.Len())
}

func (s *shell) flattenWord(src *arithSrc, w *syntax.Word) {
	for _, part := range w.Parts {
		if pe, ok := part.(*syntax.ParamExp); ok && pe.Short && pe.Index != nil && !pe.Dollar.IsValid() {
			// name[index] without a dollar
			src.sb.WriteString(pe.Param.Value + "[")
			if v := s.lookup(pe.Param.Value); v != nil && v.attrs&attrAssoc != 0 {
				src.keys = append(src.keys, s.subscript(pe.Param.Value, pe.Index))
				src.sb.WriteString("\x00" + strconv.Itoa(len(src.keys)-1) + "\x00")
			} else {
				s.flatten(src, pe.Index)
			}
			src.sb.WriteByte(']')
			continue
		}
		x := &expander{s: s, single: true}
		switch part := part.(type) {
		case *syntax.SglQuoted:
			x.part(part, bare)
		default:
			x.part(part, double)
		}
		src.sb.WriteString(strings.ReplaceAll(x.join(), "\x00", ""))
	}
}

// An arithError carries bash's message: EXPRESSION: what (error token is "...").
type arithError struct{ expr, what, token string }

func (e *arithError) Error() string {
	if e.what == "" {
		return "" // the reason was reported before
	}
	msg := e.expr + ": " + e.what
	if e.token != "" {
		msg += ` (error token is "` + e.token + `")`
	}
	return strings.TrimLeft(msg, " ")
}

// evaluate computes an expression.
func (s *shell) evaluate(text string, keys []string) (n int64, err error) {
	if v, ok := decimal(text); ok {
		return v, nil
	}
	e := &evaluator{s: s, src: text, keys: keys}
	if s.arithDepth++; s.arithDepth > 1000 {
		s.arithDepth--
		return 0, &arithError{text, "expression recursion level exceeded", text}
	}
	defer func() {
		s.arithDepth--
		if r := recover(); r != nil {
			bad, ok := r.(*arithError)
			if !ok {
				panic(r)
			}
			err = bad
		}
	}()
	e.next()
	if e.tok == "" {
		return 0, nil
	}
	n = e.comma()
	if e.tok != "" {
		e.fail("syntax error in expression", e.rest())
	}
	return n, nil
}

// decimal reads the commonest of all expressions.
func decimal(s string) (int64, bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > 18 || digits[0] == '0' && len(digits) > 1 {
		return 0, digits == "" && s == ""
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

type evaluator struct {
	s    *shell
	src  string
	keys []string
	i    int // after the token
	from int // where the token begins
	last int // where the token before it begins
	tok  string
	kind byte // 'n' number, 'v' variable, 'o' operator
	prev byte // the kind of the token before
	off  int  // >0 where nothing is evaluated: the other side of && || ?:
}

func (e *evaluator) fail(what, token string) {
	panic(&arithError{e.src, what, token})
}

// rest is the text from the current token on.
func (e *evaluator) rest() string { return e.src[e.from:] }

func identStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func identChar(c byte) bool { return identStart(c) || c >= '0' && c <= '9' }

// longOperators are those of more than one character, the longest first.
var longOperators = strings.Fields("<<= >>= ** ++ -- << >> <= >= == != && || += -= *= /= %= &= |= ^=")

func (e *evaluator) next() {
	e.last, e.prev = e.from, e.kind
	for e.i < len(e.src) && strings.IndexByte(" \t\n\r", e.src[e.i]) >= 0 {
		e.i++
	}
	e.from = e.i
	if e.i == len(e.src) {
		e.tok, e.kind = "", 0
		return
	}
	c := e.src[e.i]
	j := e.i + 1
	switch {
	case c >= '0' && c <= '9':
		for j < len(e.src) && (identChar(e.src[j]) || e.src[j] == '#' || e.src[j] == '@') {
			j++
		}
		e.kind = 'n'
	case identStart(c):
		for j < len(e.src) && identChar(e.src[j]) {
			j++
		}
		e.kind = 'v'
		if j < len(e.src) && e.src[j] == '[' {
			depth := 0
			for ; j < len(e.src); j++ {
				if e.src[j] == '[' {
					depth++
				} else if e.src[j] == ']' {
					if depth--; depth == 0 {
						break
					}
				}
			}
			if j == len(e.src) {
				e.fail("bad array subscript", e.src[e.i:])
			}
			j++
		}
	default:
		e.kind = 'o'
		for _, op := range longOperators {
			if strings.HasPrefix(e.src[e.i:], op) {
				j = e.i + len(op)
				break
			}
		}
		if (e.src[e.i:j] == "++" || e.src[e.i:j] == "--") && !e.stepping(j) {
			j = e.i + 1 // two signs, as in 5--5
		}
		if j == e.i+1 && strings.IndexByte("+-*/%<>=!~&|^?:(),", c) < 0 {
			if e.kind = 'o'; e.last < e.from {
				e.fail("syntax error: invalid arithmetic operator", e.src[e.i:])
			}
			e.fail("syntax error: operand expected", e.src[e.i:])
		}
	}
	e.tok = e.src[e.i:j]
	e.i = j
}

// stepping reports whether a ++ or -- has a variable beside it.
func (e *evaluator) stepping(after int) bool {
	for i := after; i < len(e.src); i++ {
		if c := e.src[i]; c != ' ' && c != '\t' {
			if identStart(c) {
				return true
			}
			break
		}
	}
	return e.prev == 'v'
}

func (e *evaluator) take(op string) bool {
	if e.kind == 'o' && e.tok == op {
		e.next()
		return true
	}
	return false
}

func (e *evaluator) comma() int64 {
	n := e.assign()
	for e.take(",") {
		n = e.assign()
	}
	return n
}

// An lvalue is a variable or an element.
type lvalue struct {
	name, sub string
	hasSub    bool
}

func (e *evaluator) lvalue(tok string) lvalue {
	name, sub, ok := cutSubscript(tok)
	if !ok {
		return lvalue{name: tok}
	}
	lv := lvalue{name: name, hasSub: true}
	if strings.HasPrefix(sub, "\x00") {
		i, _ := strconv.Atoi(strings.Trim(sub, "\x00"))
		lv.sub = e.keys[i]
		return lv
	}
	if e.off == 0 {
		lv.sub = e.s.runtimeSubscript(name, sub)
	}
	return lv
}

func (e *evaluator) load(lv lvalue) int64 {
	if e.off > 0 {
		return 0
	}
	r := ref{name: lv.name, sub: lv.sub, hasSub: lv.hasSub}
	e.s.value(&r)
	if !r.set && e.s.opt.nounset {
		e.s.unbound(r)
	}
	n, err := e.s.evaluate(r.str, nil)
	if err != nil {
		panic(err)
	}
	return n
}

func (e *evaluator) store(lv lvalue, n int64) {
	if e.off > 0 {
		return
	}
	if !e.s.assign(lv.name, lv.sub, lv.hasSub, strconv.FormatInt(n, 10), false) {
		panic(&arithError{})
	}
}

func (e *evaluator) assign() int64 {
	if e.kind == 'v' {
		// Look one token ahead for an assignment.
		saved := *e
		tok := e.tok
		e.next()
		if e.kind == 'o' && e.tok != "==" && strings.HasSuffix(e.tok, "=") && e.tok != "<=" && e.tok != ">=" &&
			e.tok != "!=" {
			op := strings.TrimSuffix(e.tok, "=")
			e.next()
			lv := e.lvalue(tok)
			var old int64
			if op != "" {
				old = e.load(lv)
			}
			n := e.assign()
			if op != "" {
				n = e.apply(op, old, n)
			}
			e.store(lv, n)
			return n
		}
		*e = saved
	}
	n := e.ternary()
	if e.kind == 'o' && len(e.tok) >= 1 && strings.HasSuffix(e.tok, "=") && e.tok != "==" && e.tok != "<=" &&
		e.tok != ">=" && e.tok != "!=" {
		e.fail("attempted assignment to non-variable", e.rest())
	}
	return n
}

func (e *evaluator) ternary() int64 {
	cond := e.binary(0)
	if !e.take("?") {
		return cond
	}
	branch := func(skip bool, f func() int64) int64 {
		if skip {
			e.off++
			defer func() { e.off-- }()
		}
		return f()
	}
	yes := branch(cond == 0, e.comma)
	if !e.take(":") {
		e.fail("`:' expected for conditional expression", e.rest())
	}
	no := branch(cond != 0, e.ternary)
	if cond != 0 {
		return yes
	}
	return no
}

var arithLevels = [...][]string{
	{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"},
	{"*", "/", "%"},
}

func (e *evaluator) binary(level int) int64 {
	if level == len(arithLevels) {
		return e.power()
	}
	n := e.binary(level + 1)
	for {
		op := ""
		for _, o := range arithLevels[level] {
			if e.kind == 'o' && e.tok == o {
				op = o
			}
		}
		if op == "" {
			return n
		}
		e.next()
		skip := op == "||" && n != 0 || op == "&&" && n == 0
		if skip {
			e.off++
		}
		right := e.binary(level + 1)
		if skip {
			e.off--
		}
		n = e.apply(op, n, right)
	}
}

func (e *evaluator) power() int64 {
	n := e.unary()
	if !e.take("**") {
		return n
	}
	exp := e.power()
	if exp < 0 {
		if e.off > 0 {
			return 0
		}
		e.fail("exponent less than 0", e.src[e.last:])
	}
	result := int64(1)
	for ; exp > 0; exp >>= 1 {
		if exp&1 != 0 {
			result *= n
		}
		n *= n
	}
	return result
}

func (e *evaluator) unary() int64 {
	switch {
	case e.take("!"):
		return truth(e.unary() == 0)
	case e.take("~"):
		return ^e.unary()
	case e.take("-"):
		return -e.unary()
	case e.take("+"):
		return e.unary()
	}
	if e.kind == 'o' && (e.tok == "++" || e.tok == "--") {
		step := int64(1)
		if e.tok == "--" {
			step = -1
		}
		e.next()
		if e.kind != 'v' {
			e.fail("syntax error: operand expected", e.rest())
		}
		lv := e.lvalue(e.tok)
		e.next()
		n := e.load(lv) + step
		e.store(lv, n)
		return n
	}
	return e.primary()
}

func (e *evaluator) primary() int64 {
	switch e.kind {
	case 'n':
		n := e.number(e.tok)
		e.next()
		return n
	case 'v':
		lv := e.lvalue(e.tok)
		e.next()
		n := e.load(lv)
		if e.kind == 'o' && (e.tok == "++" || e.tok == "--") {
			step := int64(1)
			if e.tok == "--" {
				step = -1
			}
			e.next()
			e.store(lv, n+step)
		}
		return n
	}
	if e.take("(") {
		n := e.comma()
		if !e.take(")") {
			e.fail("missing `)'", e.src[e.last:])
		}
		return n
	}
	token := e.rest()
	if token == "" {
		token = e.src[e.last:]
	}
	e.fail("syntax error: operand expected", token)
	return 0
}

func (e *evaluator) number(tok string) int64 {
	base, digits := int64(10), tok
	if b, d, ok := strings.Cut(tok, "#"); ok {
		n, err := strconv.ParseInt(b, 10, 64)
		if err != nil || n < 2 || n > 64 {
			e.fail("invalid arithmetic base", e.rest())
		}
		if d == "" {
			e.fail("invalid integer constant", e.rest())
		}
		base, digits = n, d
	} else if strings.HasPrefix(tok, "0x") || strings.HasPrefix(tok, "0X") {
		base, digits = 16, tok[2:]
	} else if len(tok) > 1 && tok[0] == '0' {
		base, digits = 8, tok[1:]
	}
	var n int64
	for i := range len(digits) {
		d := int64(-1)
		switch c := digits[i]; {
		case c >= '0' && c <= '9':
			d = int64(c - '0')
		case c >= 'a' && c <= 'z':
			d = int64(c-'a') + 10
		case c >= 'A' && c <= 'Z' && base <= 36:
			d = int64(c-'A') + 10
		case c >= 'A' && c <= 'Z':
			d = int64(c-'A') + 36
		case c == '@':
			d = 62
		case c == '_':
			d = 63
		}
		if d < 0 {
			e.fail("invalid number", tok)
		}
		if d >= base {
			e.fail("value too great for base", tok)
		}
		n = n*base + d
	}
	return n
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func (e *evaluator) apply(op string, x, y int64) int64 {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/", "%":
		if y == 0 {
			if e.off > 0 {
				return 0
			}
			token := e.src[e.last:]
			e.fail("division by 0", token)
		}
		if y == -1 { // the one quotient that does not fit
			if op == "/" {
				return -x
			}
			return 0
		}
		if op == "/" {
			return x / y
		}
		return x % y
	case "<<":
		return x << (uint64(y) & 63)
	case ">>":
		return x >> (uint64(y) & 63)
	case "<":
		return truth(x < y)
	case ">":
		return truth(x > y)
	case "<=":
		return truth(x <= y)
	case ">=":
		return truth(x >= y)
	case "==":
		return truth(x == y)
	case "!=":
		return truth(x != y)
	case "&":
		return x & y
	case "|":
		return x | y
	case "^":
		return x ^ y
	case "&&":
		return truth(x != 0 && y != 0)
	default: // "||"
		return truth(x != 0 || y != 0)
	}
}
