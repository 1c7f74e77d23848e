package main

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/assent-dev/assent/present"
)

// briefResult is what a tool gave the model, for a person: an object in JSON as its members
// that say something, everything else as it is.
func briefResult(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return text
	}
	var parts []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return text
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return text
		}
		if v := briefValue(value); v != "" {
			parts = append(parts, present.SafeLine(name.(string))+": "+v)
		}
	}
	if _, err := d.Token(); err != nil || d.More() || len(parts) == 0 {
		return text
	}
	return strings.Join(parts, " · ")
}

// briefValue is a value on one line; nothing for what is empty, zero or false.
func briefValue(value json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil {
		var parts []string
		for _, v := range list {
			parts = append(parts, briefValue(v))
		}
		return strings.Join(parts, ", ")
	}
	var s string
	if json.Unmarshal(value, &s) == nil {
		return present.SafeLine(s)
	}
	switch b := bytes.TrimSpace(value); string(b) {
	case "false", "null", "0", "{}":
		return ""
	default:
		return present.SafeLine(string(b))
	}
}
