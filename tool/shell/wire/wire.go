package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/assent-dev/assent/sandbox"
)

// Version changes with the messages. Both sides are built from the same source; a side of
// another version is refused.
const Version = "5"

// IsShell reports whether a command line is that of the shell inside: the small program, or
// another one that does its work.
func IsShell(argv []string) bool {
	return len(argv) > 0 && (path.Base(argv[0]) == "assent-shell" || slices.Contains(argv[1:], "shell"))
}

// maxMessage bounds one message. The kernel takes arguments of about 2 MiB.
const maxMessage = 16 << 20

// A Kind says what a message is.
type Kind byte

// The kinds. The zero Kind is refused.
const (
	kindOrder Kind = iota + 1
	kindAnswer
	kindEnd
	kindSignal
	// Start is a program about to be started.
	Start
	// Open is a file about to be opened.
	Open
	// List is a folder about to be listed.
	List
	// Connect is a connection that the shell itself makes.
	Connect
	// Builtin is a command that the shell does itself.
	Builtin
)

// An Order says what to run.
type Order struct {
	Text string
	Dir  string
	Env  []string
	// Ask are the builtins that are put to the gate before they run.
	Ask []string
	// Wall is what the kernel is to hold programs and opened files to; Private are the folders
	// that stay writable behind it.
	Wall    sandbox.Wall
	Private []string
	// Stay says that background commands go on after the text has ended. Whole says that
	// programs among them need the shell too: everything ends with it.
	Stay, Whole bool
	// Proxy is an address of the loopback inside. The shell listens there, hands the listener
	// out over its connection, and the gate's side serves it. Empty means none.
	Proxy string
}

// An Act is something that the shell is about to do.
type Act struct {
	ID   uint64
	Kind Kind
	// Argv are the words of a program or builtin.
	Argv []string
	// Path is the program, file or folder as an absolute path, Real what it is without
	// links; empty if it is not known. For Connect, Path is the address.
	Path, Real string
	Dir        string
	// Env are the variables of a program that differ from those of the order.
	Env []string
	// Reads and Writes say what a file is opened for.
	Reads, Writes bool
	// Input is what a program finds on its standard input, as far as that is known.
	Input Input
	// Text is that input, if it is a Document.
	Text string
	// Crossed says that a program finds a file that was opened only to be read where output
	// may go: by the names of its descriptors it could open that to write.
	Crossed bool
}

// An Input says what a program's standard input is.
type Input byte

// The inputs.
const (
	Fed      Input = iota // something may come from it
	Empty                 // nothing does
	Document              // a text of the command itself
)

// A Verdict answers an act. The zero Verdict refuses.
type Verdict byte

// The verdicts.
const (
	Refuse Verdict = iota
	Go
	// Interpret has the shell interpret the text instead of starting the program.
	Interpret
)

// An Answer is the gate's word on an act.
type Answer struct {
	ID      uint64
	Verdict Verdict
	// Why is the reason of a refusal, and the text of Interpret.
	Why string
	// Name, Params and Opts are those of the shell that interprets the text.
	Name         string
	Params, Opts []string
}

// An End says how the text ended.
type End struct {
	Status int
	// Why is empty unless something else than the text itself ended it.
	Why string
	// Stays says that the shell goes on for commands in the background; Left are the
	// programs among them, by name.
	Stays bool
	Left  []string
	// Dir is the folder that the shell is in.
	Dir string
}

// A Signal is for everything in the foreground.
type Signal struct{ Number int }

// Write writes one message: an Order, Act, Answer, Signal or End.
func Write(w io.Writer, message any) error {
	var e encoder
	switch m := message.(type) {
	case Order:
		e.start(kindOrder)
		e.texts(Version, m.Text, m.Dir)
		e.list(m.Env)
		e.list(m.Ask)
		e.flag(m.Stay)
		e.flag(m.Whole)
		e.texts(m.Proxy)
		e.wall(m.Wall)
		e.list(m.Private)
	case Act:
		if m.Kind < Start || m.Kind > Builtin {
			return fmt.Errorf("wire: an act of kind %d", m.Kind)
		}
		e.start(m.Kind)
		e.number(m.ID)
		e.list(m.Argv)
		e.texts(m.Path, m.Real, m.Dir)
		e.list(m.Env)
		e.flag(m.Reads)
		e.flag(m.Writes)
		e.number(uint64(m.Input))
		e.texts(m.Text)
		e.flag(m.Crossed)
	case Answer:
		e.start(kindAnswer)
		e.number(m.ID)
		e.number(uint64(m.Verdict))
		e.texts(m.Why, m.Name)
		e.list(m.Params)
		e.list(m.Opts)
	case End:
		e.start(kindEnd)
		e.number(uint64(m.Status))
		e.texts(m.Why)
		e.flag(m.Stays)
		e.list(m.Left)
		e.texts(m.Dir)
	case Signal:
		e.start(kindSignal)
		e.number(uint64(m.Number))
	default:
		return fmt.Errorf("wire: %T is not a message", message)
	}
	if len(e.data) > maxMessage {
		return fmt.Errorf("a message of %d bytes is too long; the limit is %d", len(e.data), maxMessage)
	}
	binary.BigEndian.PutUint32(e.data, uint32(len(e.data)-4))
	_, err := w.Write(e.data)
	return err
}

// Read reads one message. It returns [io.EOF] only between messages.
func Read(r io.Reader) (any, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > maxMessage {
		return nil, fmt.Errorf("a message of %d bytes", n)
	}
	data := make([]byte, n)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, errors.Join(io.ErrUnexpectedEOF, err)
	}
	return decode(data)
}

func decode(data []byte) (any, error) {
	d := decoder{data: data[1:]}
	var message any
	switch kind := Kind(data[0]); kind {
	case kindOrder:
		if version := d.text(); version != Version && d.err == nil {
			return nil, fmt.Errorf("the other side speaks version %q, this one %q: they were not built together", version, Version)
		}
		message = Order{Text: d.text(), Dir: d.text(), Env: d.list(), Ask: d.list(), Stay: d.flag(), Whole: d.flag(),
			Proxy: d.text(), Wall: d.wall(), Private: d.list()}
	case Start, Open, List, Connect, Builtin:
		message = Act{
			Kind: kind, ID: d.number(), Argv: d.list(), Path: d.text(), Real: d.text(), Dir: d.text(), Env: d.list(),
			Reads: d.flag(), Writes: d.flag(), Input: Input(d.number()), Text: d.text(), Crossed: d.flag(),
		}
	case kindAnswer:
		message = Answer{ID: d.number(), Verdict: Verdict(d.number()), Why: d.text(), Name: d.text(), Params: d.list(),
			Opts: d.list()}
	case kindEnd:
		message = End{Status: int(d.number()), Why: d.text(), Stays: d.flag(), Left: d.list(), Dir: d.text()}
	case kindSignal:
		message = Signal{Number: int(d.number())}
	default:
		return nil, fmt.Errorf("a message of kind %d", kind)
	}
	if d.err == nil && len(d.data) > 0 {
		d.err = fmt.Errorf("%d bytes after the message", len(d.data))
	}
	if d.err != nil {
		return nil, d.err
	}
	return message, nil
}

type encoder struct{ data []byte }

func (e *encoder) start(k Kind)      { e.data = append(e.data, 0, 0, 0, 0, byte(k)) }
func (e *encoder) number(n uint64)   { e.data = binary.AppendUvarint(e.data, n) }
func (e *encoder) list(all []string) { e.number(uint64(len(all))); e.texts(all...) }

func (e *encoder) flag(on bool) {
	if on {
		e.number(1)
	} else {
		e.number(0)
	}
}

func (e *encoder) wall(w sandbox.Wall) {
	e.flag(w.Writes)
	e.list(w.Files)
	e.list(w.Changed)
	e.list(w.Folders)
	e.flag(w.Programs != nil)
	e.list(w.Programs)
}

func (e *encoder) texts(all ...string) {
	for _, s := range all {
		e.number(uint64(len(s)))
		e.data = append(e.data, s...)
	}
}

type decoder struct {
	data []byte
	err  error
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.data)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.data = d.data[size:]
	return n
}

func (d *decoder) flag() bool { return d.number() == 1 }

func (d *decoder) wall() sandbox.Wall {
	w := sandbox.Wall{Writes: d.flag(), Files: d.list(), Changed: d.list(), Folders: d.list()}
	listed := d.flag()
	if w.Programs = d.list(); listed && w.Programs == nil {
		w.Programs = []string{} // none at all
	}
	return w
}

func (d *decoder) text() string {
	n := d.number()
	if n > uint64(len(d.data)) {
		d.fail()
		return ""
	}
	s := string(d.data[:n])
	d.data = d.data[n:]
	return s
}

func (d *decoder) list() []string {
	n := d.number()
	if n > uint64(len(d.data)) { // each has at least its length
		d.fail()
		return nil
	}
	var all []string
	for range n {
		all = append(all, d.text())
	}
	return all
}

func (d *decoder) fail() {
	d.data = nil
	if d.err == nil {
		d.err = errors.New("a message that is cut short")
	}
}
