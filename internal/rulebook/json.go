package rulebook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/assent-dev/assent/policy"
)

// document is the JSON form: it says everything.
type document struct {
	Rules []policy.Rule `json:"rules"`
}

// WriteJSON writes the rules with all that is known about them.
func WriteJSON(w io.Writer, rules []policy.Rule) error {
	if rules == nil {
		rules = []policy.Rule{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(document{rules})
}

// Read reads rules in either form; file is their name in errors.
func Read(file string, data []byte) ([]policy.Rule, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return Parse(file, data)
	}
	var d document
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("%s: %w; it is read as 'assent rules export --format json' writes it", file, err)
	}
	for i, r := range d.Rules {
		if err := r.Validate(); err != nil {
			return nil, fmt.Errorf("%s: rule %d: %w", file, i+1, err)
		}
		d.Rules[i].Source = ""
	}
	return d.Rules, nil
}
