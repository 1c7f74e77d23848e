package connector

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// An envelope is a message as far as it is read before it is handed on: its members, as
// they came.
type envelope struct{ version, id, method, params, result json.RawMessage }

// openEnvelope reads the envelope of a message. It is false for what is not as usual: no
// JSON, members that are there twice, that are written with escapes, or that are others. It
// is for others to read that with care.
func openEnvelope(line []byte) (e envelope, usual bool) {
	if !json.Valid(line) {
		return e, false
	}
	for name, value := range members(line) {
		var member *json.RawMessage
		switch string(name) {
		case "jsonrpc":
			member = &e.version
		case "id":
			member = &e.id
		case "method":
			member = &e.method
		case "params":
			member = &e.params
		case "result":
			member = &e.result
		}
		if member == nil || *member != nil {
			return e, false
		}
		*member = value
	}
	return e, string(e.version) == `"2.0"` && isPlainID(e.id)
}

// isPlainID reports whether an id is written in the one way in which anybody writes it: as
// digits, or as a text without escapes.
func isPlainID(id json.RawMessage) bool {
	if len(id) > 0 && id[0] == '"' {
		return bytes.IndexByte(id, '\\') < 0
	}
	return len(id) > 0 && len(bytes.Trim(id, "0123456789")) == 0
}

// A ToolCall is a call of a tool as a client wants it.
type ToolCall struct {
	ID        json.RawMessage
	Name      string
	Arguments json.RawMessage
	Meta      map[string]any
}

// toolCall reads a call, if it is one and is as usual.
func (e *envelope) toolCall() (c ToolCall, usual bool) {
	if string(e.method) != `"tools/call"` || e.result != nil {
		return c, false
	}
	var name, meta, other json.RawMessage
	for spelled, value := range members(e.params) {
		member := &other
		switch string(spelled) {
		case "name":
			member = &name
		case "arguments":
			member = &c.Arguments
		case "_meta":
			member = &meta
		}
		if member != &other && *member != nil || bytes.IndexByte(spelled, '\\') >= 0 {
			return c, false
		}
		*member = value
	}
	if len(name) < 2 || name[0] != '"' || bytes.IndexByte(name, '\\') >= 0 || !utf8.Valid(name) {
		return c, false
	}
	if meta != nil && json.Unmarshal(meta, &c.Meta) != nil {
		return c, false
	}
	c.ID, c.Name = e.id, string(name[1:len(name)-1])
	return c, true
}

// members yields the members of an object that is known to be valid JSON: each name as it
// stands between its quotes, and the value, as they came. It yields nothing for what is no
// object.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		rest := bytes.TrimLeft(object, blanks)
		if len(rest) == 0 || rest[0] != '{' {
			return
		}
		for {
			rest = bytes.TrimLeft(rest[1:], blanks) // behind { or ,
			if len(rest) == 0 || rest[0] != '"' {
				return
			}
			end := stringEnd(rest)
			name := rest[1 : end-1]
			rest = bytes.TrimLeft(rest[end:], blanks)
			rest = bytes.TrimLeft(rest[1:], blanks) // behind :
			end = valueEnd(rest)
			if !yield(name, rest[:end:end]) {
				return
			}
			if rest = bytes.TrimLeft(rest[end:], blanks); len(rest) == 0 || rest[0] != ',' {
				return
			}
		}
	}
}

// blanks is what JSON has between its parts.
const blanks = " \t\r\n"

// valueEnd returns where the value at the beginning ends.
func valueEnd(value []byte) int {
	depth := 0
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '"':
			i += stringEnd(value[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i // of what the value is in
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue // of a number, true, false or null
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(value)
}

// stringEnd returns where the text at the beginning ends, with its quotes.
func stringEnd(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
