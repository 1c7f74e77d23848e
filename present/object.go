package present

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

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
