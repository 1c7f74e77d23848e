package rulebook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// document is the JSON form: it says everything.
type document struct {
	Rules []Entry `json:"rules"`
}

// WriteJSON writes the rules with all that is known about them.
func WriteJSON(w io.Writer, entries []Entry) error {
	if entries == nil {
		entries = []Entry{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(document{entries})
}

// Read reads rules in either form; file is their name in errors.
func Read(file string, data []byte) ([]Entry, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return Parse(file, data)
	}
	var d document
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("%s: %w; it is read as 'assent rules export --format json' writes it", file, err)
	}
	for i, e := range d.Rules {
		if err := e.Validate(); err != nil {
			return nil, fmt.Errorf("%s: rule %d: %w", file, i+1, err)
		}
		d.Rules[i].Source = ""
	}
	return d.Rules, nil
}
