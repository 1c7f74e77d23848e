package present

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

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
