package interp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// A shell is the state of the main shell or of a subshell. One goroutine uses it.
type shell struct {
	r   *Runner
	ctx context.Context

	src  *Source
	pos  syntax.Pos // what an act happens for
	line uint
	// lineOff is added to the lines of eval's text, which go on where eval stands.
	lineOff uint

	level   int // BASH_SUBSHELL
	self    int // tells this shell from all others
	pid     int // BASHPID
	name0   string
	script  string // the file that is run, if it is not -c text
	params  []string
	scopes  []*scope
	varSeq  int
	hidden  map[string]bool // computed variables that were unset
	foreign []string        // environment that no variable can hold

	funcs       map[string]*function
	funcsShared bool // with a subshell: copy before a change
	aliases     map[string]string

	fds    fdTable
	umask  int // -1: the process's own
	limits map[int]syscall.Rlimit

	dir     string
	dirFile *desc    // the folder, whatever becomes of its name
	dirs    []string // pushd, without the current folder

	opt        options
	traps      map[string]trap
	trapped    []syscall.Signal // arrived, to be handled between two commands
	inTrap     int
	box        *mailbox
	status     int
	pipeStatus []int
	substState int // status of the last command substitution, or -1
	lastArg    string
	current    *syntax.Stmt // BASH_COMMAND
	// trapCommand is BASH_COMMAND while a trap runs: what was about to run, or failed.
	trapCommand string
	inDebug     bool
	// beforeReturn is the status before return, which a RETURN trap sees.
	beforeReturn int

	flow   flow
	loops  int
	noErr  int // >0 where a failure is expected: conditions, the left of &&
	depth  int // of functions, eval, source and substitutions
	frames []frame

	jobs         []*job
	past         []*job // ended before another one began
	lastBg       *job
	lead         *job // the job whose process id is this shell's next program
	tail         *job // the job whose ( ) this shell runs: its last program takes the shell's place
	inBackground bool
	simpleStage  bool // bash would fork only for the command itself

	procSubs []int // descriptors of <(...), to be closed after the command

	began          time.Time
	secondsFrom    int
	seed           uint32
	seeded         bool
	lastRandom     int
	optPos         int
	hashed         map[string]*hashEntry
	matchers       map[string]*matcher
	arithDepth     int
	builtin        string         // the builtin that runs
	errTrap        bool           // an ERR trap was set before the command began
	signalledChild *child         // ended by a signal, to be told of after the redirections
	keepRedirs     bool           // exec: the redirections stay
	paramsSet      bool           // set changed $1 and so on
	tracing        bool           // inside PS4
	traceDepth     int            // of + in set -x
	killed         syscall.Signal // what ended the shell
	handled        bool           // a trap has taken a signal
	grown          int64          // bytes of variables since the shell began
	last           *syntax.Stmt   // the last command of all, which bash would turn into
}

type function struct {
	name     string
	body     *syntax.Stmt
	src      *Source
	file     string
	lineOff  uint
	exported bool
	readonly bool
}

// A frame is a call of a function, or a sourced file.
type frame struct {
	name   string
	file   string
	line   uint // of the call
	isFunc bool
}

// flow is a jump on its way out of loops and functions.
type flow struct {
	kind byte // 0, 'b' break, 'c' continue, 'r' return
	n    int
}

// What leaves a shell altogether is a panic.
type (
	exiting   struct{ status int } // exit, or set -e
	discarded struct{}             // an expansion failed: the rest of the line is dropped
	halted    struct{}             // the gate is closed
	died      struct {
		sig syscall.Signal
		box *mailbox
	} // a signal ended the shell
)

type hashEntry struct {
	path string
	hits int
}

// sub returns a copy of the shell for a subshell.
func (s *shell) sub() *shell {
	s.check()
	s.deeper()
	s.depth--
	c := *s
	c.scopes = copyScopes(s.scopes)
	c.fds = s.fds.clone()
	if s.dirFile != nil {
		s.dirFile.hold()
	}
	s.funcsShared, c.funcsShared = true, true
	c.aliases = maps.Clone(s.aliases)
	c.hashed = maps.Clone(s.hashed)
	c.limits = maps.Clone(s.limits)
	c.dirs = slices.Clone(s.dirs)
	c.frames = slices.Clone(s.frames)
	c.matchers = nil
	c.grown = 0
	c.errTrap, c.signalledChild, c.killed = true, nil, 0
	c.last, c.simpleStage = nil, false
	c.level++
	c.depth++
	c.self = s.r.crowd.newPid()
	c.pid = c.self
	c.jobs = slices.Clone(s.jobs)
	c.trapped, c.procSubs = nil, nil
	c.flow, c.loops, c.seeded = flow{}, 0, false
	c.lead, c.tail = nil, nil
	c.inTrap = 0
	// Traps are for this shell alone; what is ignored stays so.
	c.traps = map[string]trap{}
	for name, t := range s.traps {
		t.inherited = !t.ignores()
		if name == "ERR" && s.opt.errtrace || (name == "DEBUG" || name == "RETURN") && s.opt.functrace {
			t.inherited = false
		}
		c.traps[name] = t
	}
	return &c
}

// run runs the body of a subshell to its end, whatever that is.
func (s *shell) run(body func()) int {
	defer s.release()
	s.guarded(body)
	s.exitTrap()
	return s.status
}

// release lets go of everything the shell holds.
func (s *shell) release() {
	s.fds.closeAll()
	if s.dirFile != nil {
		s.dirFile.release()
		s.dirFile = nil
	}
	s.r.total.Add(-s.grown)
}

// guarded runs body until it ends, or until this shell exits.
func (s *shell) guarded(body func()) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exiting:
			s.status = r.status
		case discarded:
		case died:
			if r.box == nil || r.box.owner != s {
				panic(r)
			}
			s.status = 128 + int(r.sig)
			s.killed = r.sig
		default:
			panic(r)
		}
		s.flow = flow{}
	}()
	body()
}

func (s *shell) exitTrap() {
	t, ok := s.traps["EXIT"]
	if !ok || t.inherited || t.action == "" || s.killed == syscall.SIGKILL {
		return
	}
	delete(s.traps, "EXIT")
	s.guarded(func() {
		status := s.status
		s.inTrap++
		s.runText(t.action, &Source{Origin: Trap, Name: "EXIT", Text: t.action}, "exit trap")
		s.inTrap--
		s.status = status
	})
}

// check ends the shell if the gate was closed, or a signal that nobody handles came.
func (s *shell) check() {
	if s.r.gate.shut.Load() {
		panic(halted{})
	}
	if s.box != nil && s.box.any.Load() {
		s.signalled()
	}
}

// stop closes the gate and leaves.
func (s *shell) stop(err error) {
	s.r.gate.close(err)
	panic(halted{})
}

// at makes a place in the text the current one.
func (s *shell) at(pos syntax.Pos) {
	s.line, s.pos = pos.Line()+s.lineOff, pos
}

func (s *shell) act() Act {
	a := Act{Pos: s.pos, Source: s.src, Dir: s.dir}
	if s.dirFile != nil {
		a.DirFile = s.dirFile.f
	}
	return a
}

func (s *shell) unsupported(construct string, pos syntax.Pos) {
	if pos.IsValid() {
		s.pos = pos
	}
	s.stop(&UnsupportedError{construct, s.act()})
}

func (s *shell) limited(what string) { s.stop(&LimitError{what, s.act()}) }

// from makes src the text that positions count in, until the returned function is called.
func (s *shell) from(src *Source) func() {
	old := s.src
	s.src = src
	return func() { s.src = old }
}

// prefix is how bash begins a message.
func (s *shell) prefix() string {
	name := s.name0
	if n := len(s.frames); n > 0 && s.frames[n-1].file != "" {
		name = s.frames[n-1].file
	}
	return fmt.Sprintf("%s: line %d: ", name, max(s.line, 1))
}

func (s *shell) warn(format string, args ...any) {
	s.errText(s.prefix() + fmt.Sprintf(format, args...) + "\n")
}

// complain is the message of a builtin.
func (s *shell) complain(builtin, format string, args ...any) {
	s.warn("%s: %s", builtin, fmt.Sprintf(format, args...))
}

func (s *shell) errText(text string) {
	if d := s.fds[2]; d != nil {
		s.writeFd(d, []byte(text)) // there is nowhere to complain about it
	}
}

// fail reports that an expansion failed, and drops the rest of the line.
func (s *shell) fail(format string, args ...any) {
	s.warn(format, args...)
	s.dropLine()
}

// dropLine drops the rest of the line, or ends the shell under set -e.
func (s *shell) dropLine() {
	if s.opt.errexit {
		panic(exiting{1})
	}
	s.discard(1)
}

func (s *shell) discard(status int) {
	s.status = status
	panic(discarded{})
}

// abort reports an error that ends the shell.
func (s *shell) abort(format string, args ...any) {
	s.warn(format, args...)
	status := 127
	if s.level > 0 && !s.simpleStage || s.opt.errexit {
		status = 1
	}
	panic(exiting{status})
}

func (s *shell) readonly(name string) { s.warn("%s: readonly variable", name) }

// out writes to standard output for a builtin.
func (s *shell) out(text string) bool { return s.outFor("", text) }

func (s *shell) outFor(builtin, text string) bool {
	if text == "" {
		return true
	}
	d := s.fds[1]
	var err error = syscall.EBADF
	if d != nil {
		err = s.writeFd(d, []byte(text))
	}
	if err == nil {
		return true
	}
	if errors.Is(err, syscall.EPIPE) {
		if t, ok := s.traps["PIPE"]; !ok || t.inherited {
			s.die(syscall.SIGPIPE)
		}
	}
	if builtin == "" {
		builtin = s.builtin
	}
	s.complain(builtin, "write error: %s", errText(err))
	return false
}

func (s *shell) outf(format string, args ...any) bool { return s.out(fmt.Sprintf(format, args...)) }

// die ends this shell as a signal would.
func (s *shell) die(sig syscall.Signal) {
	s.killed = sig
	panic(exiting{128 + int(sig)})
}

// errText says what is wrong in the words of the C library.
func errText(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		text := []rune(errno.Error())
		text[0] = unicode.ToUpper(text[0])
		return string(text)
	}
	return err.Error()
}

// judge ends the run unless a handler's error is one of the operating system.
func (s *shell) judge(err error) {
	if err == nil {
		return
	}
	var errno syscall.Errno
	var refused *Refused
	if !errors.As(err, &errno) || errors.As(err, &refused) {
		s.stop(err)
	}
}

func (s *shell) abs(path string) string {
	if path == "" || strings.HasPrefix(path, "/") {
		return path
	}
	return s.dir + "/" + path
}

func (s *shell) stat(path string, noFollow bool) (fs.FileInfo, error) {
	s.check()
	if path == "" {
		return nil, syscall.ENOENT
	}
	if d, ok := s.deviceFd(path); ok {
		if d == nil {
			return nil, syscall.ENOENT
		}
		return d.f.Stat()
	}
	info, err := s.r.h.Stat(s.ctx, &StatRequest{PathRequest{s.act(), s.abs(path)}, noFollow})
	s.judge(err)
	s.check()
	return info, err
}

func (s *shell) readDir(path string) ([]fs.DirEntry, error) {
	s.check()
	entries, err := s.r.h.ReadDir(s.ctx, &PathRequest{s.act(), s.abs(path)})
	s.judge(err)
	s.check()
	return entries, err
}

func (s *shell) access(path string, mode uint32) error {
	s.check()
	if path == "" {
		return syscall.ENOENT
	}
	err := s.r.h.Access(s.ctx, &AccessRequest{PathRequest{s.act(), s.abs(path)}, mode})
	s.judge(err)
	s.check()
	return err
}

// open opens a file through the handler. The caller owns the result.
func (s *shell) open(path string, flag int, reason string) (*desc, error) {
	s.check()
	req := &OpenRequest{Act: s.act(), Path: path, Flag: flag, Perm: 0o666, Reason: reason, Umask: s.umask}
	if d, ok := s.deviceFd(path); ok {
		if d == nil {
			return nil, syscall.ENOENT
		}
		if d.waits {
			return d.hold(), nil // opening a pipe again gives the same pipe
		}
		req.File = d.f
	}
	if rest, ok := strings.CutPrefix(path, "/dev/tcp/"); ok {
		req.Network, req.Address = "tcp", strings.Replace(rest, "/", ":", 1)
	} else if rest, ok := strings.CutPrefix(path, "/dev/udp/"); ok {
		req.Network, req.Address = "udp", strings.Replace(rest, "/", ":", 1)
	}
	act, err := s.r.h.Open(s.ctx, req)
	s.judge(err)
	if err != nil {
		return nil, err
	}
	for {
		var f *os.File
		if !s.r.gate.pass(func() { f, err = act() }) {
			panic(halted{})
		}
		s.judge(err)
		if err == nil {
			d := adopt(f)
			s.awaitWriter(d, flag)
			return d, nil
		}
		if !errors.Is(err, syscall.ENXIO) {
			return nil, err
		}
		if info, err := s.stat(path, false); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
			return nil, syscall.ENXIO // such as /dev/tty without a terminal
		}
		// A fifo without a reader: bash waits for one.
		s.pause(5 * time.Millisecond)
	}
}

// awaitWriter waits for somebody to write into a fifo, as opening it would.
func (s *shell) awaitWriter(d *desc, flag int) {
	if info, err := d.f.Stat(); err == nil && info.Mode()&os.ModeNamedPipe != 0 && flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		s.wait(d, pollIn, time.Time{})
	}
}

// pause waits a moment, unless the gate closes.
func (s *shell) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.r.gate.done:
	}
	s.check()
}

// deviceFd returns the descriptor that /dev/fd/N and its kin mean. ok says that the
// path is of that kind; a nil descriptor is a closed one.
func (s *shell) deviceFd(path string) (d *desc, ok bool) {
	switch path {
	case "/dev/stdin":
		return s.fds[0], true
	case "/dev/stdout":
		return s.fds[1], true
	case "/dev/stderr":
		return s.fds[2], true
	}
	for _, dir := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if rest, ok := strings.CutPrefix(path, dir); ok {
			if n, ok := fdNumber(rest); ok {
				return s.fds[n], true
			}
		}
	}
	return nil, false
}

// homeOf returns the home folder of a user; "" is the current one.
func (s *shell) homeOf(user string) (string, bool) {
	d, err := s.open("/etc/passwd", os.O_RDONLY, "passwd")
	if err != nil {
		return "", false
	}
	defer d.release()
	text, err := s.readAll(d)
	if err != nil {
		return "", false
	}
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.Split(line, ":")
		if len(f) >= 6 && (f[0] == user && user != "" || user == "" && f[2] == itoa(os.Getuid())) {
			return f[5], true
		}
	}
	return "", false
}

// readAll reads a descriptor to its end.
func (s *shell) readAll(d *desc) (string, error) {
	var sb strings.Builder
	buf := make([]byte, 4<<10)
	for {
		n, err := s.readFd(d, buf, time.Time{})
		sb.Write(buf[:n])
		if n == len(buf) && n < 64<<10 {
			buf = make([]byte, 64<<10)
		}
		s.r.bound(s, sb.Len())
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return sb.String(), err
		}
	}
}

func (s *shell) inFunction() bool {
	return slices.ContainsFunc(s.frames, func(f frame) bool { return f.isFunc })
}

// stack is the list of pushd, with the current folder first.
func (s *shell) stack() []string { return append([]string{s.dir}, s.dirs...) }

// join is a path below the current folder, cleaned as cd -L does.
func (s *shell) join(path string) string {
	return filepath.Clean(s.abs(path))
}
