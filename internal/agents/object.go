package agents

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/assent-dev/assent/internal/canonical"
)

// An object is JSON whose fields are found by their exact names. Package json would
// also take "Command" for "command", and a model chooses these names.
type object map[string]json.RawMessage

func readObject(data []byte, what string) (object, error) {
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%s is not UTF-8", what)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if first, err := d.Token(); err != nil {
		return nil, fmt.Errorf("%s must be a JSON object: %w", what, err)
	} else if first != json.Delim('{') {
		return nil, fmt.Errorf("%s must be a JSON object", what)
	}
	o, err := readFields(d)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("%s must be a JSON object: %w", what, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s has more after its JSON object", what)
	}
	return o, nil
}

// readFields reads up to the end of an object. A field that stands twice is an error: it
// cannot be told which of them the agent uses.
func readFields(d *json.Decoder) (object, error) {
	o := object{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		if o[name.(string)] != nil { // the decoder lets nothing else be a name
			return nil, fmt.Errorf("it has %q twice", name)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		o[name.(string)] = value
	}
	_, err := d.Token()
	return o, err
}

// has reports whether a field is there and not null.
func (o object) has(name string) bool {
	v, ok := o[name]
	return ok && string(v) != "null"
}

// optional returns the text under one of the names, "" if none is there. If several
// are, they must agree: it cannot be told which one the agent uses.
func (o object) optional(names ...string) (string, error) {
	found, from := "", ""
	for _, name := range names {
		if !o.has(name) {
			continue
		}
		var text string
		if err := json.Unmarshal(o[name], &text); err != nil {
			return "", fmt.Errorf("%s must be a string", name)
		}
		if from != "" && text != found {
			return "", fmt.Errorf("%s and %s disagree", from, name)
		}
		found, from = text, name
	}
	return found, nil
}

// text is optional for a field that must be there and not be empty.
func (o object) text(names ...string) (string, error) {
	text, err := o.optional(names...)
	if err == nil && text == "" {
		err = fmt.Errorf("%s is missing", strings.Join(names, " or "))
	}
	return text, err
}

// given is optional for a field that must be there and may be empty.
func (o object) given(names ...string) (string, error) {
	if !slices.ContainsFunc(names, o.has) {
		return "", fmt.Errorf("%s is missing", strings.Join(names, " or "))
	}
	return o.optional(names...)
}

// flag returns a field that is true, false or not there.
func (o object) flag(name string) (set bool, err error) {
	if o.has(name) {
		if err = json.Unmarshal(o[name], &set); err != nil {
			err = fmt.Errorf("%s is neither true nor false", name)
		}
	}
	return set, err
}

// list returns the objects under a name.
func (o object) list(name string) ([]object, error) {
	var out []object
	if !o.has(name) {
		return nil, fmt.Errorf("%s is missing", name)
	}
	if err := json.Unmarshal(o[name], &out); err != nil {
		return nil, fmt.Errorf("%s must be a list of objects", name)
	}
	return out, nil
}

// path returns the path under the first of the names that is there.
func (o object) path(dir string, names ...string) (string, error) {
	p, err := o.text(names...)
	if err != nil {
		return "", err
	}
	return absolute(p, dir)
}

// folder is path for a folder that is the agent's own if none is named.
func (o object) folder(dir string, names ...string) (string, error) {
	p, err := o.optional(names...)
	if err != nil {
		return "", err
	}
	return absolute(cmp.Or(p, dir), dir)
}

// texts returns the texts under a name; a single text counts as one.
func (o object) texts(name string) ([]string, error) {
	if !o.has(name) {
		return nil, nil
	}
	var one string
	if json.Unmarshal(o[name], &one) == nil {
		return []string{one}, nil
	}
	var out []string
	if err := json.Unmarshal(o[name], &out); err != nil {
		return nil, fmt.Errorf("%s must be a list of strings", name)
	}
	return out, nil
}

// input returns the arguments of a tool, which are an object, or the text of one.
func (o object) input(name string) (json.RawMessage, error) {
	raw := o[name]
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		raw = json.RawMessage(text)
	}
	if len(bytes.TrimSpace(raw)) == 0 || string(raw) == "null" {
		return nil, errors.New(name + " is missing")
	}
	if _, err := canonical.Arguments(raw); errors.Is(err, canonical.ErrDuplicateKey) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	_, err := readObject(raw, name)
	return raw, err
}
