package present

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

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
