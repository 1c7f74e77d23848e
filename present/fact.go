package present

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Names of facts that several tools use. A tool may use others.
const (
	FactSize      = "size"      // number: bytes
	FactOldSize   = "old_size"  // number: bytes before the call
	FactNewSize   = "new_size"  // number: bytes after the call
	FactLines     = "lines"     // number: lines of the whole content
	FactCwd       = "cwd"       // text: working directory, as its virtual path
	FactMethod    = "method"    // text: HTTP method
	FactURL       = "url"       // text: where a web request goes
	FactTruncated = "truncated" // flag: the content is only the head of the whole
	FactFullSize  = "full_size" // number: bytes of the whole, when truncated
)

// A Fact is one named line of a view's header. Its value is a text, a number or
// a flag and cannot be anything else: make one with [TextFact], [NumberFact] or
// [FlagFact]. Facts compare with ==. The zero Fact has no value and is refused
// by [Facts.Validate].
type Fact struct {
	name   string
	kind   factKind
	text   string
	number int64
	flag   bool
}

type factKind uint8

const (
	noFact factKind = iota
	textFact
	numberFact
	flagFact
)

// TextFact returns a fact whose value is the text s.
func TextFact(name, s string) Fact { return Fact{name: name, kind: textFact, text: s} }

// NumberFact returns a fact whose value is the number n.
func NumberFact(name string, n int64) Fact { return Fact{name: name, kind: numberFact, number: n} }

// FlagFact returns a fact whose value is the flag b.
func FlagFact(name string, b bool) Fact { return Fact{name: name, kind: flagFact, flag: b} }

// Name returns the fact's name.
func (f Fact) Name() string { return f.name }

// Text returns the value if it is a text.
func (f Fact) Text() (s string, ok bool) { return f.text, f.kind == textFact }

// Number returns the value if it is a number.
func (f Fact) Number() (n int64, ok bool) { return f.number, f.kind == numberFact }

// Flag returns the value if it is a flag.
func (f Fact) Flag() (b, ok bool) { return f.flag, f.kind == flagFact }

// Value returns the value as it is written for a person, whatever its type.
// A text is returned as it is; make it safe with [SafeLine] or [View.Safe].
func (f Fact) Value() string {
	switch f.kind {
	case textFact:
		return f.text
	case numberFact:
		return strconv.FormatInt(f.number, 10)
	case flagFact:
		return strconv.FormatBool(f.flag)
	}
	return ""
}

// String returns the fact for a log or a test, with quotes around what a tool chose.
func (f Fact) String() string {
	if f.kind == textFact {
		return fmt.Sprintf("%q: %q", f.name, f.text)
	}
	return fmt.Sprintf("%q: %s", f.name, f.Value())
}

// validate refuses a name that would print as another one: made visible, two
// different names could become the same.
func (f Fact) validate() error {
	switch {
	case f.kind == noFact:
		return errors.New("no value: make facts with TextFact, NumberFact or FlagFact")
	case f.name == "":
		return errors.New("empty name")
	case SafeLine(f.name) != f.name:
		return errors.New("name is not plain printable text")
	case !utf8.ValidString(f.text):
		return errors.New("text is not valid UTF-8")
	}
	return nil
}

// safe returns the fact with name and text made safe to print on one line.
func (f Fact) safe() Fact {
	f.name, f.text = SafeLine(f.name), SafeLine(f.text)
	return f
}
