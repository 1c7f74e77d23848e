package interp

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"mvdan.cc/sh/v3/syntax"
)

// An Origin says where a piece of shell text came from.
type Origin int

const (
	// Judged is the tree that was given to [Runner.Run].
	Judged Origin = iota
	// Eval is the text of eval, or of mapfile -C.
	Eval
	// Sourced is the text of a file that source or "." read.
	Sourced
	// Trap is the text of a trap.
	Trap
	// Value is the text of a value that bash evaluates again: an array subscript in
	// arithmetic, ${x@P}, PS4.
	Value
	// Script is the text of a program file that the kernel does not know how to run,
	// or what an Exec handler asked for with [Inline].
	Script
)

var originNames = [...]string{"judged", "eval", "source", "trap", "value", "script"}

func (o Origin) String() string { return originNames[o] }

// A Source is one piece of shell text. The positions of an [Act] count in it.
type Source struct {
	Origin Origin
	Name   string // the file's name, or the signal's for a trap
	Text   string
}

// An Act is what every request to a handler says: the place in the text that it comes
// from, and the folder it happens in.
type Act struct {
	Pos    syntax.Pos
	Source *Source
	Dir    string
	// DirFile is the folder itself, which may meanwhile have another name, or none. It
	// can only be used to start programs in it and to open what is below it. It is nil
	// where the system has no such descriptors.
	DirFile *os.File
}

// A Process is a started program.
type Process interface {
	Pid() int
	// Wait waits for the end. It is called once.
	Wait() (syscall.WaitStatus, *syscall.Rusage, error)
	// Signal sends a signal, and fails once Wait has returned.
	Signal(syscall.Signal) error
}

// An ExecRequest is a program about to be started.
type ExecRequest struct {
	Act
	Args  []string
	Path  string   // what Args[0] was found to be; absolute, or relative to Dir
	Env   []string // the whole environment
	Added []string // what stood before the command: A=b cmd
	// Files are the open descriptors by number; nil is a closed one.
	Files      []*os.File
	Umask      int // -1 is the process's own
	Limits     map[int]syscall.Rlimit
	Background bool
	// On, if not nil, calls a function on the thread that the program is to be started from.
	// That thread shares its file creation mask with no other.
	On func(func()) error
}

// An Inline, returned as the error of an Exec handler, makes the interpreter run a
// script itself, in a fresh shell with the same handlers, instead of starting the
// program: what the handler answers to bash -c TEXT, having judged the text.
type Inline struct {
	File   *syntax.File
	Source *Source
	Name   string   // $0
	Params []string // $1 and so on
	Opts   []string // as for set: -e, -o pipefail
}

func (*Inline) Error() string { return "run by the interpreter" }

// An OpenRequest is a file about to be opened.
type OpenRequest struct {
	Act
	Path string // as written, relative to Dir unless absolute
	Flag int    // os.O_*
	Perm os.FileMode
	// Reason is "redirect", "source", "script", "read" for $(<file) and "passwd" for ~name.
	Reason string
	// File is the open descriptor that /dev/fd/N, /dev/stdin and their kin mean. The
	// path then names a descriptor of the shell, not one of this process.
	File *os.File
	// Network and Address are set for /dev/tcp/HOST/PORT and /dev/udp/HOST/PORT.
	Network, Address string
	Umask            int // -1 is the process's own
	// On is as that of an ExecRequest.
	On func(func()) error
}

// A PathRequest is a path to be looked at.
type PathRequest struct {
	Act
	Path string // absolute
}

// A StatRequest asks for a file's state.
type StatRequest struct {
	PathRequest
	NoFollow bool // the link itself
}

// An AccessRequest asks whether this user may use a file.
type AccessRequest struct {
	PathRequest
	Mode uint32 // R_OK, W_OK, X_OK
}

// CallKind says what a simple command turned out to be.
type CallKind int

const (
	CallProgram CallKind = iota
	CallBuiltin
	CallFunction
)

// A CallRequest is a simple command after its expansion and before its effect.
type CallRequest struct {
	Act
	Kind  CallKind
	Args  []string
	Added []string // A=b before the command
}

// Handlers decide about, and do, everything that reaches outside the interpreter. Each
// may be called from several goroutines at once.
//
// Exec and Open decide first and return a function that acts. Between the two the
// interpreter makes sure that it was not stopped meanwhile, so that nothing happens
// after a refusal elsewhere. The functions must not wait for anything.
//
// A [*Refused] error, and any error that is not the operating system's own (wrapping a
// [syscall.Errno]), stops the whole run.
type Handlers struct {
	Exec    func(context.Context, *ExecRequest) (func() (Process, error), error)
	Open    func(context.Context, *OpenRequest) (func() (*os.File, error), error)
	ReadDir func(context.Context, *PathRequest) ([]fs.DirEntry, error)
	Stat    func(context.Context, *StatRequest) (fs.FileInfo, error)
	Access  func(context.Context, *AccessRequest) error
	// StandIn starts a process that stands for a group or subshell in the background, which
	// has none of its own: its id becomes $!, so that other programs can see and end it.
	// It is the caller's own program and does nothing but wait. If StandIn is nil, $! is a
	// number that only this shell understands.
	StandIn func(context.Context) (Process, error)
	// Call sees every simple command, also builtins and functions. It may be nil: then
	// only the others decide.
	Call func(context.Context, *CallRequest) error
}

// Refused is a handler's no. The run ends at once.
type Refused struct{ Err error }

func (r *Refused) Error() string { return r.Err.Error() }
func (r *Refused) Unwrap() error { return r.Err }

// UnsupportedError says that a command needs something which this interpreter does not have.
// It ends the run before the construct has an effect.
type UnsupportedError struct {
	Construct string
	Act       Act
}

func (u *UnsupportedError) Error() string {
	return fmt.Sprintf("line %d: %s is not supported by this shell", u.Act.Pos.Line(), u.Construct)
}

// LimitError says that a value or a nesting grew beyond what the interpreter holds.
type LimitError struct {
	What string
	Act  Act
}

func (l *LimitError) Error() string {
	return fmt.Sprintf("line %d: %s", l.Act.Pos.Line(), l.What)
}

// InternalError is a fault of the interpreter itself. It ends the run like a refusal.
type InternalError struct {
	Panic any
	Stack []byte
}

func (e *InternalError) Error() string {
	return fmt.Sprintf("the shell stopped because of a fault of its own (%v); nothing more of this command runs; "+
		"please report the command", e.Panic)
}
