package interp

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
	"mvdan.cc/sh/v3/syntax"
)

// testClause evaluates [[ ]]: 0, 1, or 2 for an error.
func (s *shell) testClause(cm *syntax.TestClause) int {
	return s.conditional(cm.X)
}

func (s *shell) conditional(x syntax.TestExpr) int {
	switch x := x.(type) {
	case *syntax.Word:
		text := s.text(x)
		s.traceTest("-n", text)
		return int(truth(text == ""))
	case *syntax.ParenTest:
		return s.conditional(x.X)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			switch status := s.conditional(x.X); status {
			case 0, 1:
				return 1 - status
			default:
				return status
			}
		}
		w, ok := x.X.(*syntax.Word)
		if !ok {
			s.unsupported("a condition of another shell", x.Pos())
		}
		text := s.text(w)
		s.traceTest(x.Op.String(), text)
		return int(truth(!s.unary(x.Op.String(), text)))
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.AndTest, syntax.OrTest:
			status := s.conditional(x.X)
			if status > 1 || (status == 0) != (x.Op == syntax.AndTest) {
				return status
			}
			return s.conditional(x.Y)
		}
		l, ok1 := x.X.(*syntax.Word)
		r, ok2 := x.Y.(*syntax.Word)
		if !ok1 || !ok2 {
			s.unsupported("a condition of another shell", x.Pos())
		}
		return s.compare(x.Op, l, r)
	}
	s.unsupported("a condition of another shell", x.Pos())
	return 2
}

func (s *shell) compare(op syntax.BinTestOperator, l, r *syntax.Word) int {
	left := s.text(l)
	var right string
	switch op {
	case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch:
		right = s.pattern(r)
	case syntax.TsReMatch:
		right = s.regexOf(r)
	default:
		right = s.text(r)
	}
	if s.opt.xtrace {
		s.trace("[[ " + quoteOperand(left) + " " + op.String() + " " + quoteOperand(right) + " ]]")
	}
	no := func(b bool) int { return int(truth(!b)) }
	switch op {
	case syntax.TsMatch, syntax.TsMatchShort:
		return no(s.compileAs(right, s.opt.nocasematch, true).match(s, left))
	case syntax.TsNoMatch:
		return no(!s.compileAs(right, s.opt.nocasematch, true).match(s, left))
	case syntax.TsReMatch:
		return s.regexMatch(left, right)
	case syntax.TsBefore:
		return no(left < right)
	case syntax.TsAfter:
		return no(left > right)
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		a, err := s.evaluate(left, nil)
		if err == nil {
			var b int64
			if b, err = s.evaluate(right, nil); err == nil {
				return no(compareInts(op.String(), a, b))
			}
		}
		s.arithFailed("[[: ", err)
		return 1
	}
	return no(s.compareFiles(op.String(), left, right))
}

func (s *shell) traceTest(op, text string) {
	if s.opt.xtrace {
		s.trace("[[ " + op + " " + quoteOperand(text) + " ]]")
	}
}

func quoteOperand(text string) string {
	if text == "" {
		return "''"
	}
	return text
}

func compareInts(op string, a, b int64) bool {
	switch op {
	case "-eq":
		return a == b
	case "-ne":
		return a != b
	case "-lt":
		return a < b
	case "-le":
		return a <= b
	case "-gt":
		return a > b
	default:
		return a >= b
	}
}

func (s *shell) compareFiles(op, a, b string) bool {
	left, err1 := s.stat(a, false)
	right, err2 := s.stat(b, false)
	switch op {
	case "-nt":
		return err1 == nil && (err2 != nil || left.ModTime().After(right.ModTime()))
	case "-ot":
		return err2 == nil && (err1 != nil || left.ModTime().Before(right.ModTime()))
	default: // -ef
		return err1 == nil && err2 == nil && os.SameFile(left, right)
	}
}

// unary is a test with one operand, of [[ ]] and of [ ].
func (s *shell) unary(op, arg string) bool {
	mode := func(bits fs.FileMode) bool {
		info, err := s.stat(arg, false)
		return err == nil && info.Mode()&bits != 0
	}
	switch op {
	case "-n":
		return arg != ""
	case "-z":
		return arg == ""
	case "-e", "-a":
		_, err := s.stat(arg, false)
		return err == nil
	case "-f":
		info, err := s.stat(arg, false)
		return err == nil && info.Mode().IsRegular()
	case "-d":
		return s.isDir(arg)
	case "-s":
		info, err := s.stat(arg, false)
		return err == nil && info.Size() > 0
	case "-L", "-h":
		info, err := s.stat(arg, true)
		return err == nil && info.Mode()&fs.ModeSymlink != 0
	case "-c":
		return mode(fs.ModeCharDevice)
	case "-b":
		info, err := s.stat(arg, false)
		return err == nil && info.Mode()&fs.ModeDevice != 0 && info.Mode()&fs.ModeCharDevice == 0
	case "-p":
		return mode(fs.ModeNamedPipe)
	case "-S":
		return mode(fs.ModeSocket)
	case "-k":
		return mode(fs.ModeSticky)
	case "-u":
		return mode(fs.ModeSetuid)
	case "-g":
		return mode(fs.ModeSetgid)
	case "-r":
		return s.access(arg, unix.R_OK) == nil
	case "-w":
		return s.access(arg, unix.W_OK) == nil
	case "-x":
		return s.access(arg, unix.X_OK) == nil
	case "-O", "-G", "-N":
		info, err := s.stat(arg, false)
		if err != nil {
			return false
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		switch {
		case !ok:
			return false
		case op == "-O":
			return int(st.Uid) == os.Geteuid()
		case op == "-G":
			return int(st.Gid) == os.Getegid()
		}
		return info.ModTime().After(accessTime(st))
	case "-t":
		n, ok := fdNumber(strings.TrimSpace(arg))
		return ok && s.fds[n] != nil && isTerminal(s.fds[n].fd)
	case "-o":
		opt, ok := optionNamed(setOptions, arg)
		return ok && s.opt.is(opt)
	case "-v":
		r, ok := s.parseRef(arg)
		if !ok {
			return false
		}
		s.value(&r)
		return r.set
	case "-R":
		v, _ := s.find(arg)
		return v != nil && v.set && v.attrs&attrNameref != 0
	}
	return false
}

func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, getTermios)
	return err == nil
}

// testBuiltin is test and [.
func testBuiltin(s *shell, args []string) int {
	name, args := args[0], args[1:]
	if name == "[" {
		if len(args) == 0 || args[len(args)-1] != "]" {
			s.complain("[", "missing `]'")
			return 2
		}
		args = args[:len(args)-1]
	}
	t := &tester{s: s, name: name, args: args}
	ok := t.run()
	if t.bad {
		return 2
	}
	return int(truth(!ok))
}

// A tester evaluates the arguments of test.
type tester struct {
	s    *shell
	name string
	args []string
	i    int
	bad  bool
}

func (t *tester) fail(format string, args ...any) bool {
	if !t.bad {
		t.bad = true
		t.s.complain(t.name, format, args...)
	}
	return false
}

// run obeys POSIX, which decides by the number of arguments as far as four.
func (t *tester) run() bool {
	switch len(t.args) {
	case 0:
		return false
	case 1, 2, 3, 4:
		return t.few(t.args)
	}
	ok := t.or()
	if !t.bad && t.i < len(t.args) {
		return t.fail("too many arguments")
	}
	return ok
}

func (t *tester) few(a []string) bool {
	switch len(a) {
	case 0:
		return false
	case 1:
		return a[0] != ""
	case 2:
		if a[0] == "!" {
			return a[1] == ""
		}
		if !isUnary(a[0]) {
			return t.fail("%s: unary operator expected", a[0])
		}
		return t.one(a[0], a[1])
	case 3:
		switch {
		case isBinary(a[1]):
			return t.two(a[0], a[1], a[2])
		case a[1] == "-a":
			return a[0] != "" && a[2] != ""
		case a[1] == "-o":
			return a[0] != "" || a[2] != ""
		case a[0] == "!":
			return !t.few(a[1:])
		case a[0] == "(" && a[2] == ")":
			return a[1] != ""
		}
		return t.fail("%s: binary operator expected", a[1])
	default:
		switch {
		case a[0] == "!":
			return !t.few(a[1:])
		case a[0] == "(" && a[3] == ")":
			return t.few(a[1:3])
		}
		t.args, t.i = a, 0
		ok := t.or()
		if !t.bad && t.i < len(t.args) {
			return t.fail("too many arguments")
		}
		return ok
	}
}

func (t *tester) more() bool { return !t.bad && t.i < len(t.args) }

func (t *tester) or() bool {
	ok := t.and()
	for t.more() && t.args[t.i] == "-o" {
		t.i++
		right := t.and()
		ok = ok || right
	}
	return ok
}

func (t *tester) and() bool {
	ok := t.term()
	for t.more() && t.args[t.i] == "-a" {
		t.i++
		right := t.term()
		ok = ok && right
	}
	return ok
}

func (t *tester) term() bool {
	if !t.more() {
		return t.fail("argument expected")
	}
	rest := t.args[t.i:]
	if rest[0] == "!" {
		t.i++
		return !t.term()
	}
	if rest[0] == "(" {
		t.i++
		ok := t.or()
		if !t.more() || t.args[t.i] != ")" {
			return t.fail("`)' expected")
		}
		t.i++
		return ok
	}
	if len(rest) >= 3 && isBinary(rest[1]) {
		t.i += 3
		return t.two(rest[0], rest[1], rest[2])
	}
	if len(rest) >= 2 && isUnary(rest[0]) {
		t.i += 2
		return t.one(rest[0], rest[1])
	}
	t.i++
	return rest[0] != ""
}

func isUnary(op string) bool {
	return len(op) == 2 && op[0] == '-' && strings.IndexByte("abcdefghknoprstuvwxzGLNORS", op[1]) >= 0
}

func isBinary(op string) bool {
	switch op {
	case "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef":
		return true
	}
	return false
}

func (t *tester) one(op, arg string) bool {
	if op == "-t" {
		if _, err := strconv.Atoi(strings.TrimSpace(arg)); err != nil {
			return t.fail("%s: integer expression expected", arg)
		}
	}
	return t.s.unary(op, arg)
}

func (t *tester) two(a, op, b string) bool {
	switch op {
	case "=", "==":
		return a == b
	case "!=":
		return a != b
	case "<":
		return a < b
	case ">":
		return a > b
	case "-nt", "-ot", "-ef":
		return t.s.compareFiles(op, a, b)
	}
	x, err := strconv.ParseInt(strings.TrimSpace(a), 10, 64)
	if err != nil {
		return t.fail("%s: integer expression expected", a)
	}
	y, err := strconv.ParseInt(strings.TrimSpace(b), 10, 64)
	if err != nil {
		return t.fail("%s: integer expression expected", b)
	}
	return compareInts(op, x, y)
}
