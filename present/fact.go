package present

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// Facts are the header of a view, in the order to show them, each name once.
type Facts []Fact

// Get returns the fact of that name.
func (fs Facts) Get(name string) (Fact, bool) {
	if i := fs.index(name); i >= 0 {
		return fs[i], true
	}
	return Fact{}, false
}

// With returns a copy of fs that holds f: in the place of the fact of the same
// name if there is one, else at the end. It never changes fs.
func (fs Facts) With(f Fact) Facts {
	i := fs.index(f.name)
	if i < 0 {
		return append(slices.Clip(fs), f) // clipped, so append has to copy
	}
	out := slices.Clone(fs)
	out[i] = f
	return out
}

func (fs Facts) index(name string) int {
	return slices.IndexFunc(fs, func(f Fact) bool { return f.name == name })
}

// Validate reports the first fact that cannot be shown or written: one without
// a value, with a name that is empty, not plain printable text or already used,
// or with a text that is not valid UTF-8.
func (fs Facts) Validate() error {
	seen := make(map[string]bool, len(fs))
	for _, f := range fs {
		if err := f.validate(); err != nil {
			return fmt.Errorf("fact %q: %w", f.name, err)
		}
		if seen[f.name] {
			return fmt.Errorf("fact %q: name comes twice", f.name)
		}
		seen[f.name] = true
	}
	return nil
}

// safe returns the facts with names and texts made safe to print on one line.
func (fs Facts) safe() Facts {
	out := slices.Clone(fs)
	for i, f := range out {
		out[i] = f.safe()
	}
	return out
}

// MarshalJSON writes the facts as one object, in their order. Facts that
// [Facts.Validate] refuses are an error.
func (fs Facts) MarshalJSON() ([]byte, error) {
	if err := fs.Validate(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range fs {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := f.write(&b); err != nil {
			return nil, fmt.Errorf("fact %q: %w", f.name, err)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// write writes the fact as one member of a JSON object.
func (f Fact) write(b *bytes.Buffer) error {
	name, err := json.Marshal(f.name)
	if err != nil {
		return err
	}
	value := []byte(f.Value()) // numbers and flags are JSON already
	if f.kind == textFact {
		if value, err = json.Marshal(f.text); err != nil {
			return err
		}
	}
	b.Write(name)
	b.WriteByte(':')
	b.Write(value)
	return nil
}

// UnmarshalJSON reads one object of texts, whole numbers and flags, and keeps
// their order. A name that comes twice, null, a nested value, a number with a
// fraction or an exponent, or one outside int64 is an error. After an error fs
// is unchanged.
func (fs *Facts) UnmarshalJSON(data []byte) error {
	var read Facts
	err := readObject(data, func(name string, value json.RawMessage) error {
		f, err := readFact(name, value)
		read = append(read, f)
		return err
	})
	if err != nil {
		return err
	}
	if err := read.Validate(); err != nil {
		return err
	}
	*fs = read
	return nil
}

// readFact reads the value of one fact by the first byte of its JSON.
func readFact(name string, value json.RawMessage) (Fact, error) {
	switch c := value[0]; {
	case c == '"':
		s, err := readString(value)
		return TextFact(name, s), err
	case c == 't' || c == 'f':
		return FlagFact(name, c == 't'), nil
	case c == '-' || '0' <= c && c <= '9':
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil {
			return Fact{}, fmt.Errorf("number %s is not a whole number of 64 bits", value)
		}
		return NumberFact(name, n), nil
	}
	return Fact{}, errors.New("want a string, a whole number, true or false")
}
