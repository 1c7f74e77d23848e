package interp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
	"mvdan.cc/sh/v3/syntax"
)

// Limits bound what a command can make the interpreter hold. Zero values mean the
// defaults.
type Limits struct {
	// Value bounds one value in bytes: a variable, the output of a substitution, the
	// words of one expansion. The default is 64 MiB.
	Value int
	// Total bounds all variables together. The default is 512 MiB.
	Total int64
	// Depth bounds functions, eval, source and subshells inside each other. The default
	// is 2,000.
	Depth int
}

const pollIn = unix.POLLIN

// A Config says how a [Runner] begins.
type Config struct {
	Name   string   // $0; "bash" if empty
	Params []string // $1 and so on
	Dir    string   // an absolute path
	Text   string   // the text that the tree was read from; only messages and listings use it
	Env    []string
	// Stdin, Stdout and Stderr are the first descriptors; nil is a closed one. The
	// runner uses copies and leaves the files to the caller.
	Stdin, Stdout, Stderr *os.File
	Handlers              Handlers
	Limits                Limits
}

// A Runner runs one tree. It is made by [New] and used once.
type Runner struct {
	h     Handlers
	max   Limits
	pid   int
	gate  *gate
	crowd *crowd
	main  *shell
	null  *desc
	total atomic.Int64 // bytes of all variables
	began time.Time
}

// New makes a runner.
func New(cfg Config) (*Runner, error) {
	if !filepath.IsAbs(cfg.Dir) {
		return nil, errors.New("interp: Config.Dir must be an absolute path")
	}
	g, err := newGate()
	if err != nil {
		return nil, err
	}
	r := &Runner{h: cfg.Handlers.refusing(), pid: os.Getpid(), gate: g, crowd: newCrowd(), began: time.Now()}
	r.max = Limits{cmp.Or(cfg.Limits.Value, 64<<20), cmp.Or(cfg.Limits.Total, 512<<20), cmp.Or(cfg.Limits.Depth, 2000)}
	cfg.Name = cmp.Or(cfg.Name, "bash")
	s := &shell{
		r: r, ctx: context.Background(), pid: r.pid, name0: cfg.Name, params: cfg.Params,
		scopes: []*scope{newScope()}, fds: fdTable{}, umask: -1, dir: filepath.Clean(cfg.Dir),
		lastArg: cfg.Name, errTrap: true, opt: newOptions(), traps: map[string]trap{},
		began: time.Now(), substState: -1,
		src: &Source{Origin: Judged, Text: cfg.Text}, funcs: map[string]*function{},
	}
	s.box = newMailbox(s)
	r.main = s
	for n, f := range []*os.File{cfg.Stdin, cfg.Stdout, cfg.Stderr} {
		if f == nil {
			continue
		}
		fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			s.fds.closeAll()
			return nil, err
		}
		s.fds.put(n, adopt(os.NewFile(uintptr(fd), f.Name())))
	}
	s.enter(s.dir)
	s.initial(cfg.Env)
	return r, nil
}

// Run runs the tree that was judged and returns its exit status. The error is nil
// unless the run was stopped: by a refusal, an unsupported construct, a limit, the
// end of the context, or [Runner.Terminate]. Programs that were running then still
// run; [Runner.Terminate] ends them.
//
// Background commands may be running when Run returns: see [Runner.Wait].
func (r *Runner) Run(ctx context.Context, file *syntax.File) (status int, err error) {
	r.crowd.shells.Add(1)
	defer r.crowd.shells.Done()
	s := r.main
	s.ctx = ctx
	defer context.AfterFunc(ctx, func() { r.gate.close(context.Cause(ctx)) })()
	defer func() {
		if p := recover(); p != nil {
			r.halt(p)
			status, err = 1, r.gate.reason()
		}
	}()
	defer s.box.close()
	status = s.run(func() {
		if n := len(file.Stmts); n > 0 {
			s.last = lastStmt(file.Stmts[n-1])
		}
		s.units(file.Stmts)
	})
	if err := r.gate.reason(); err != nil {
		return status, err
	}
	return status, nil
}

// Dir is the folder that the shell is in, for the time after [Runner.Run].
func (r *Runner) Dir() string { return r.main.dir }

// halt is the end of a goroutine that panicked. A closed gate is the usual reason. A fault of
// the interpreter closes the gate: what was judged must not go on in part.
func (r *Runner) halt(p any) {
	if _, ok := p.(halted); !ok {
		r.gate.close(&InternalError{p, debug.Stack()})
	}
}

// Stop ends the run from outside, for a reason.
func (r *Runner) Stop(err error) { r.gate.close(err) }

// bound ends the run if a value has grown too large.
func (r *Runner) bound(s *shell, n int) {
	if n > r.max.Value {
		s.limited(fmt.Sprintf("a value has grown beyond %d bytes", r.max.Value))
	}
}

func (r *Runner) grow(s *shell, n int) {
	s.grown += int64(n)
	if r.total.Add(int64(n)) > r.max.Total {
		s.limited(fmt.Sprintf("the variables have grown beyond %d bytes together", r.max.Total))
	}
}

// deeper counts one more level of functions, texts and subshells.
func (s *shell) deeper() {
	if s.depth++; s.depth > s.r.max.Depth {
		s.limited(fmt.Sprintf("commands are nested deeper than %d levels", s.r.max.Depth))
	}
}

// newParser makes a parser as the one that read the judged text.
func newParser() *syntax.Parser { return syntax.NewParser(syntax.Variant(syntax.LangBash)) }

// parse parses text that appeared at run time. What stands before an error is returned as
// well, since bash runs a line before it reads the next.
func (s *shell) parse(text string) ([]*syntax.Stmt, error) {
	if len(text) > 4<<20 {
		s.limited("the text to run is longer than 4 MiB")
	}
	if deep(text) {
		s.limited("the text to run is nested too deeply")
	}
	var stmts []*syntax.Stmt
	for st, err := range newParser().StmtsSeq(strings.NewReader(text)) {
		if err != nil {
			return stmts, err
		}
		stmts = append(stmts, st)
	}
	return stmts, nil
}

// deep guesses whether a text would nest the parser too deeply for its stack.
func deep(text string) bool {
	depth, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{', '[':
			depth++
			most = max(most, depth)
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
	}
	words := 0
	for _, word := range []string{"if ", "! ", "`", "do ", "case "} {
		words += strings.Count(text, word)
	}
	return most > 2000 || words > 100000
}

// runText runs text that appeared at run time.
func (s *shell) runText(text string, src *Source, who string) {
	s.deeper()
	defer func() { s.depth-- }()
	defer s.from(src)()
	stmts, err := s.parse(text)
	s.units(stmts)
	if err != nil && s.flow.kind == 0 {
		s.syntaxError(err, who)
		s.status = 2
	}
}

// surely are parts of messages about texts that bash refuses too. The parser also refuses
// some that bash runs, such as ${m[a b]}.
var surely = []string{
	"without closing quote", "reached EOF without", "can only be used", "can only immediately follow",
	"a statement list", "must be followed by a statement", "must be followed by a word",
	"not a valid start for a statement", "a command can only contain words", "word list can only contain words",
	"must be followed by `)`",
}

// syntaxError reports a text that cannot be read, as bash does. If bash may read it, the
// run ends: going on would be a guess.
func (s *shell) syntaxError(err error, who string) {
	var pe syntax.ParseError
	says := func(part string) bool { return strings.Contains(pe.Text, part) }
	if !errors.As(err, &pe) || !slices.ContainsFunc(surely, says) {
		s.unsupported("a text that the parser cannot read ("+err.Error()+")", s.pos)
	}
	line, msg := pe.Pos.Line(), pe.Text
	name := s.name0
	if who != "" {
		name += ": " + who
	}
	s.errText(name + ": line " + itoa(int(line)) + ": syntax error: " + msg + "\n")
}

// verbose shows the lines that set -v shows as they are read: those after the line shown, to
// the line to.
func (s *shell) verbose(shown, to uint) uint {
	if !s.opt.verbose {
		return to
	}
	n := uint(0)
	for line := range strings.Lines(s.src.Text) {
		if n++; n > shown && n <= to {
			s.errText(strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return to
}

// units runs statements. An expansion that fails drops the rest of its line only, since
// bash reads and runs line by line.
func (s *shell) units(stmts []*syntax.Stmt) {
	shown := uint(0)
	for len(stmts) > 0 && s.flow.kind == 0 {
		n := 1
		for n < len(stmts) && stmts[n].Pos().Line() <= stmts[n-1].End().Line() {
			n++
		}
		line := stmts[:n]
		stmts = stmts[n:]
		shown = s.verbose(shown, line[n-1].End().Line())
		if !s.opt.extglob && extGlobIn(line) {
			// bash does not even read such a line.
			s.at(line[0].Pos())
			s.warn("syntax error near unexpected token `('")
			s.status = 2
			if s.src.Origin == Judged || s.src.Origin == Script {
				panic(exiting{2})
			}
			return
		}
		if s.level > 0 {
			s.stmts(line) // a subshell ends where its line is dropped
			continue
		}
		func() {
			defer func() {
				if p := recover(); p != nil {
					if _, ok := p.(discarded); !ok {
						panic(p)
					}
				}
			}()
			s.stmts(line)
		}()
	}
}
