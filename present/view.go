package present

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// A Kind says what the content of a [View] is, and so how to lay it out.
// The set is closed: the constants below are all there is.
type Kind string

const (
	KindText       Kind = "text"         // prose or any other text
	KindDiff       Kind = "diff"         // a unified diff
	KindFile       Kind = "file_content" // the content of a file, in Language
	KindCommand    Kind = "command"      // a command line, as it would be run
	KindStructured Kind = "structured"   // data in Language, such as JSON
)

// known reports whether k is one of the kinds above. The empty kind is not.
func (k Kind) known() bool {
	switch k {
	case KindText, KindDiff, KindFile, KindCommand, KindStructured:
		return true
	}
	return false
}

// A View is what a person is shown about one request. It is a plain value: its
// methods return copies and never change it, so it may be shared freely as long
// as nobody writes to the elements of its Facts.
//
// A View is as its tool made it. Show what [View.Safe] returns, never the
// fields themselves.
type View struct {
	Kind     Kind
	Content  string // any bytes; a file need not be valid UTF-8
	Language string // a hint for highlighting, such as "go"; may be empty
	Facts    Facts  // the header, in the order to show it; may be empty
	// Original is what the model wrote, where Content says the same in other
	// words: a command before it was brought into its canonical form. Content is
	// what runs. Empty if they do not differ.
	Original string
}

// IsZero reports whether there is nothing to show. The zero View has no JSON
// form; a struct field of type View takes the option omitzero.
func (v View) IsZero() bool {
	return v.Kind == "" && v.Content == "" && v.Language == "" && len(v.Facts) == 0 && v.Original == ""
}

// Equal reports whether two views show the same: same kind, content and
// language, same facts in the same order, same original.
func (v View) Equal(w View) bool {
	return v.Kind == w.Kind && v.Content == w.Content &&
		v.Language == w.Language && slices.Equal(v.Facts, w.Facts) && v.Original == w.Original
}

// Validate reports what keeps v from being shown or written: an unknown kind
// (the zero View has one), a language or an original that is not valid UTF-8,
// or facts that [Facts.Validate] refuses. Content is never a reason.
func (v View) Validate() error {
	if !v.Kind.known() {
		return fmt.Errorf("view: unknown type %q: want one of %q, %q, %q, %q, %q",
			string(v.Kind), KindText, KindDiff, KindFile, KindCommand, KindStructured)
	}
	if !utf8.ValidString(v.Language) {
		return fmt.Errorf("view: language %q is not valid UTF-8", v.Language)
	}
	if !utf8.ValidString(v.Original) {
		return fmt.Errorf("view: original %q is not valid UTF-8", v.Original)
	}
	if err := v.Facts.Validate(); err != nil {
		return fmt.Errorf("view: %w", err)
	}
	return nil
}

// Safe returns v with everything in it made safe to print: the content and the
// original as by [Safe], all else as by [SafeLine].
func (v View) Safe() View {
	return View{
		Kind:     Kind(SafeLine(string(v.Kind))), // an invalid view is still printed safely
		Content:  Safe(v.Content),
		Language: SafeLine(v.Language),
		Facts:    v.Facts.safe(),
		Original: Safe(v.Original),
	}
}

// viewJSON is the written form of a View. Exactly one of the two contents is set.
type viewJSON struct {
	Type          Kind    `json:"type"`
	Content       *string `json:"content,omitempty"`
	ContentBase64 []byte  `json:"content_base64,omitempty"`
	Original      string  `json:"original,omitempty"`
	Language      string  `json:"language,omitempty"`
	Metadata      Facts   `json:"metadata,omitempty"`
}

// MarshalJSON writes v as {"type", "content", "original", "language", "metadata"},
// the last three only when they hold something. JSON cannot carry content that is not valid
// UTF-8, so that is written as "content_base64" instead of "content".
// A view that [View.Validate] refuses is an error.
func (v View) MarshalJSON() ([]byte, error) {
	if err := v.Validate(); err != nil {
		return nil, err
	}
	out := viewJSON{Type: v.Kind, Original: v.Original, Language: v.Language, Metadata: v.Facts}
	if utf8.ValidString(v.Content) {
		out.Content = &v.Content
	} else {
		out.ContentBase64 = []byte(v.Content)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes and nothing else: an unknown or
// doubled key, a missing type or content, both contents, or a value of the wrong
// type is an error, and so is null. Key names are exact. After an error v is
// unchanged.
func (v *View) UnmarshalJSON(data []byte) error {
	var r viewReader
	if err := readObject(data, r.member); err != nil {
		return fmt.Errorf("view: %w", err)
	}
	switch {
	case !r.typed:
		return errors.New(`view: "type" is missing`)
	case r.contents == 0:
		return errors.New(`view: "content" is missing`)
	case r.contents > 1:
		return errors.New(`view: both "content" and "content_base64": want one of them`)
	}
	if err := r.view.Validate(); err != nil {
		return err
	}
	*v = r.view
	return nil
}

// viewReader collects a view from the members of its JSON object.
type viewReader struct {
	view     View
	typed    bool
	contents int // how many of the two spellings of the content were there
}

func (r *viewReader) member(name string, value json.RawMessage) (err error) {
	switch name {
	case "type":
		var kind string
		kind, err = readString(value)
		r.view.Kind, r.typed = Kind(kind), true
	case "content":
		r.view.Content, err = readString(value)
		r.contents++
	case "content_base64":
		r.view.Content, err = readBase64(value)
		r.contents++
	case "original":
		r.view.Original, err = readString(value)
	case "language":
		r.view.Language, err = readString(value)
	case "metadata":
		err = r.view.Facts.UnmarshalJSON(value)
	default:
		err = errors.New("unknown key")
	}
	return err
}

// readBase64 reads a JSON string that holds bytes in standard base64.
func readBase64(value json.RawMessage) (string, error) {
	text, err := readString(value)
	if err != nil {
		return "", err
	}
	content, err := base64.StdEncoding.Strict().DecodeString(text)
	return string(content), err
}

// readObject hands each member of the JSON object in data to member, in order.
// It is stricter than encoding/json: a name that comes twice, bytes that are not
// valid UTF-8 (encoding/json would replace them) and anything after the object
// are errors. Errors of member are returned with the member's name.
func readObject(data []byte, member func(name string, value json.RawMessage) error) error {
	if !utf8.Valid(data) {
		return errors.New("JSON is not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil {
		return err
	} else if open != json.Delim('{') {
		return errors.New("want a JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		name, value, err := readMember(dec)
		if err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("%q: key comes twice", name)
		}
		seen[name] = true
		if err := member(name, value); err != nil {
			return fmt.Errorf("%q: %w", name, err)
		}
	}
	return readEnd(dec)
}

// readMember reads the next name and value of the object that dec is in.
func readMember(dec *json.Decoder) (name string, value json.RawMessage, err error) {
	token, err := dec.Token()
	if err != nil {
		return "", nil, err
	}
	name, ok := token.(string)
	if !ok {
		return "", nil, fmt.Errorf("want a key, not %v", token)
	}
	err = dec.Decode(&value)
	return name, value, err
}

// readEnd reads the closing brace and wants nothing behind it.
func readEnd(dec *json.Decoder) error {
	if _, err := dec.Token(); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("something follows the JSON object")
	}
	return nil
}

// readString reads a JSON string. Other values, null too, are errors.
func readString(value json.RawMessage) (string, error) {
	if len(value) == 0 || value[0] != '"' {
		return "", errors.New("want a string")
	}
	var s string
	err := json.Unmarshal(value, &s)
	return s, err
}
