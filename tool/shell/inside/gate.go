package inside

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/assent-dev/assent/sandbox/wall"
	"github.com/assent-dev/assent/tool/shell/interp"
	"github.com/assent-dev/assent/tool/shell/wire"
)

// A gate puts acts to the other side and waits for its answers.
type gate struct {
	env map[string]string // of the order
	ask []string          // builtins
	// cell is where programs start, and files are opened to be written; nil if nothing holds
	// them to less than this process.
	cell *cell

	write sync.Mutex
	conn  *os.File

	mu      sync.Mutex
	last    uint64
	waiting map[uint64]chan wire.Answer
	gone    bool
}

func newGate(conn *os.File, order wire.Order) *gate {
	g := &gate{conn: conn, env: make(map[string]string, len(order.Env)), ask: order.Ask,
		waiting: map[uint64]chan wire.Answer{}}
	for _, entry := range order.Env {
		name, value, _ := strings.Cut(entry, "=")
		g.env[name] = value
	}
	if order.Wall.Stands() {
		g.cell = &cell{rules: wall.Rules{Wall: order.Wall, Private: order.Private}}
	}
	return g
}

// listen takes answers until the other side is gone. Then the run ends: nothing decides
// about it any more.
func (g *gate) listen(r *interp.Runner) {
	for {
		message, err := wire.Read(g.conn)
		if sig, ok := message.(wire.Signal); ok && err == nil {
			forward(r, syscall.Signal(sig.Number))
			continue
		}
		answer, ok := message.(wire.Answer)
		if err != nil || !ok {
			break
		}
		g.mu.Lock()
		if c := g.waiting[answer.ID]; c != nil {
			delete(g.waiting, answer.ID)
			c <- answer
		}
		g.mu.Unlock()
	}
	g.mu.Lock()
	g.gone = true
	for id, c := range g.waiting {
		delete(g.waiting, id)
		c <- wire.Answer{Why: errGone.Error()}
	}
	g.mu.Unlock()
	r.Terminate(grace)
}

// forward hands a signal to the shell and to what runs in its foreground, as a terminal would.
func forward(r *interp.Runner, sig syscall.Signal) {
	for _, ch := range r.Children() {
		if !ch.Background {
			_ = syscall.Kill(ch.Pid, sig) // it has ended
		}
	}
	r.Signal(sig)
}

func (g *gate) send(message any) error {
	g.write.Lock()
	defer g.write.Unlock()
	return wire.Write(g.conn, message)
}

// put asks about an act. The error is a refusal.
func (g *gate) put(ctx context.Context, act wire.Act) (wire.Answer, error) {
	answers := make(chan wire.Answer, 1)
	g.mu.Lock()
	g.last++
	act.ID = g.last
	gone := g.gone
	if !gone {
		g.waiting[act.ID] = answers
	}
	g.mu.Unlock()
	if gone {
		return wire.Answer{}, &interp.Refused{Err: errGone}
	}
	if err := g.send(act); err != nil {
		return wire.Answer{}, &interp.Refused{Err: err}
	}
	select {
	case answer := <-answers:
		if answer.Verdict == wire.Refuse {
			return answer, &interp.Refused{Err: refusal(answer.Why)}
		}
		return answer, nil
	case <-ctx.Done():
		return wire.Answer{}, &interp.Refused{Err: context.Cause(ctx)}
	}
}

type refusal string

func (r refusal) Error() string { return string(r) }

// own are variables that the shell itself sets for each program.
var own = []string{"_", "SHLVL", "PWD", "OLDPWD"}

// changed are the variables of a program that the order does not have.
func (g *gate) changed(env []string) []string {
	var out []string
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if before, ok := g.env[name]; (!ok || before != value) && !slices.Contains(own, name) {
			out = append(out, entry)
		}
	}
	return out
}

// environment are the variables of a program that the order does not have, and the PATH if
// only the order has one: then the program looks for others where it likes.
func (g *gate) environment(env []string) []string {
	out := g.changed(env)
	isPath := func(entry string) bool { return strings.HasPrefix(entry, "PATH=") }
	if g.env["PATH"] != "" && !slices.ContainsFunc(env, isPath) {
		out = append(out, "PATH=")
	}
	return out
}

func (g *gate) handlers() interp.Handlers {
	h := interp.DefaultHandlers()
	h.Exec, h.Open = g.exec, g.open
	h.ReadDir = func(ctx context.Context, req *interp.PathRequest) ([]fs.DirEntry, error) {
		folder, real, err := pin(req.Path)
		if err != nil {
			return nil, err
		}
		defer folder.Close()
		if _, err := g.put(ctx, wire.Act{Kind: wire.List, Path: req.Path, Real: real, Dir: req.Dir}); err != nil {
			return nil, err
		}
		return os.ReadDir(pinned(folder, req.Path))
	}
	h.Call = func(ctx context.Context, req *interp.CallRequest) error {
		if req.Kind != interp.CallBuiltin || !slices.Contains(g.ask, req.Args[0]) {
			return nil
		}
		_, err := g.put(ctx, wire.Act{Kind: wire.Builtin, Argv: req.Args, Dir: req.Dir, Env: g.changed(req.Added)})
		return err
	}
	return h
}

// absolute is the path that an act means. Its folder may have another name by now: then
// only the descriptor leads there.
func absolute(act interp.Act, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(act.Dir, path)
}

// on calls functions where the kernel holds them; nil if that is everywhere.
func (g *gate) on() func(func()) error {
	if g.cell == nil {
		return nil
	}
	return g.cell.do
}

func (g *gate) exec(ctx context.Context, req *interp.ExecRequest) (func() (interp.Process, error), error) {
	program, real, err := pin(reach(req.Act, req.Path))
	if err != nil {
		return nil, err
	}
	if tooLong(req) {
		program.Close()
		return nil, syscall.E2BIG
	}
	act := wire.Act{
		Kind: wire.Start, Argv: req.Args, Path: absolute(req.Act, req.Path), Real: real,
		Dir: req.Dir, Env: g.environment(req.Env),
	}
	act.Input, act.Text = input(req.Files)
	act.Crossed = len(req.Files) > 1 && slices.ContainsFunc(req.Files[1:], onlyRead)
	answer, err := g.put(ctx, act)
	if err != nil {
		program.Close()
		return nil, err
	}
	if answer.Verdict == wire.Interpret {
		program.Close()
		file, err := Parse(answer.Why)
		if err != nil {
			return nil, &interp.Refused{Err: err}
		}
		return nil, &interp.Inline{
			File: file, Name: answer.Name, Params: answer.Params, Opts: answer.Opts,
			Source: &interp.Source{Origin: interp.Script, Name: answer.Name, Text: answer.Why},
		}
	}
	return func() (interp.Process, error) {
		defer program.Close()
		start := *req
		start.On = g.on()
		path, folder := steady(program, absolute(req.Act, req.Path), real)
		defer folder.Close() // nil is fine
		start.Path = cmp.Or(path, req.Path)
		return interp.Start(&start)
	}, nil
}

// Bounds of what a program can be started with, as the kernel has them by default. What is
// longer would be refused after the yes; it is not worth a judgement.
const (
	maxWord  = 128 << 10
	maxWords = 2 << 20
)

func tooLong(req *interp.ExecRequest) bool {
	size := 0
	for _, word := range slices.Concat(req.Args, req.Env) {
		if size += len(word) + 1 + 8; len(word) >= maxWord || size > maxWords {
			return true
		}
	}
	return false
}

// maxDocument is how much of a text on standard input is told.
const maxDocument = 256 << 10

// input says what a program finds on standard input. A here-document lives in memory, and
// nobody else has it.
func input(files []*os.File) (wire.Input, string) {
	if len(files) == 0 || files[0] == nil {
		return wire.Empty, ""
	}
	info, err := files[0].Stat()
	if err != nil {
		return wire.Fed, ""
	}
	if null, err := os.Stat(os.DevNull); err == nil && os.SameFile(info, null) {
		return wire.Empty, ""
	}
	if !isDocument(files[0]) || info.Size() > maxDocument {
		return wire.Fed, ""
	}
	text := make([]byte, info.Size())
	if n, err := files[0].ReadAt(text, 0); n != len(text) || err != nil && n == 0 && len(text) > 0 {
		return wire.Fed, ""
	}
	return wire.Document, string(text)
}

func (g *gate) open(ctx context.Context, req *interp.OpenRequest) (func() (*os.File, error), error) {
	switch {
	case req.File != nil: // a descriptor that the shell has already
		if name, reads, writes := gains(req); reads || writes {
			act := wire.Act{Kind: wire.Open, Path: name, Real: name, Dir: req.Dir, Reads: reads, Writes: writes}
			if _, err := g.put(ctx, act); err != nil {
				return nil, err
			}
		}
		again := *req
		again.On = g.on()
		return func() (*os.File, error) { return interp.OpenFile(&again) }, nil
	case req.Network != "":
		if _, err := g.put(ctx, wire.Act{Kind: wire.Connect, Path: req.Address, Dir: req.Dir}); err != nil {
			return nil, err
		}
		return interp.DefaultHandlers().Open(ctx, req)
	}
	t, err := find(req)
	if err != nil {
		return nil, err
	}
	writes := req.Flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND) != 0
	if t.real != os.DevNull {
		_, err := g.put(ctx, wire.Act{
			Kind: wire.Open, Path: absolute(req.Act, req.Path), Real: t.real, Dir: req.Dir,
			Reads: req.Flag&os.O_WRONLY == 0, Writes: writes,
		})
		if err != nil {
			t.close()
			return nil, err
		}
	}
	return func() (*os.File, error) {
		open := t.request(req)
		named := g.cell.names(t.real)
		if writes && !named {
			held := *open
			held.On = g.on()
			open = &held
		}
		f, err := interp.OpenFile(open)
		if err == nil && writes && named {
			g.cell.grant(f)
		}
		if !errors.Is(err, syscall.ENXIO) { // then it is tried again: the other end of a fifo is missing
			t.close()
		}
		return f, err
	}, nil
}
