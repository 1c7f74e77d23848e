package tool

import (
	"bytes"
	"encoding/json"
	"regexp"
	"sync"
)

// How a result tells the model what a person said or did.
const (
	changedNote = "[A person changed the arguments before approving. What ran: "
	personNote  = "[The person who answered says: "
)

// imitation is what reads like one of these notes, or like an answer that a person gave in place of a tool, whatever
// its case and spaces.
var imitation = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)[\[［][\s\p{Cf}]*(` +
		`the[\s\p{Cf}]+person[\s\p{Cf}]+who[\s\p{Cf}]+answered|` +
		`a[\s\p{Cf}]+person[\s\p{Cf}]+(?:changed|answered)|` +
		`answered[\s\p{Cf}]*[\]］])`)
})

// QuoteNotes marks what reads like a person's words in a text from outside: it may come from a stranger, who must not
// speak for the person. What a tool returns is marked already; use it for texts that reach a model in another way.
func QuoteNotes(text string) string {
	return imitation().ReplaceAllString(text, "[The tool's output says: $1")
}

// QuoteNotesJSON does the same in every string of a JSON text, or of one line of it. All else keeps its bytes.
func QuoteNotesJSON(data []byte) []byte {
	var out []byte
	done := 0
	for at := 0; at < len(data); {
		open := bytes.IndexByte(data[at:], '"')
		if open < 0 {
			break
		}
		from := at + open
		to := endOfString(data, from)
		at = to
		quoted, changed := quoteLiteral(data[from:to])
		if !changed {
			continue
		}
		out = append(append(out, data[done:from]...), quoted...)
		done = to
	}
	if out == nil {
		return data
	}
	return append(out, data[done:]...)
}

// endOfString returns where the string literal ends that begins at from.
func endOfString(data []byte, from int) int {
	for i := from + 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// quoteLiteral quotes notes in a string literal.
func quoteLiteral(literal []byte) (quoted []byte, changed bool) {
	if !bytes.Contains(literal, []byte("[")) && !bytes.Contains(literal, []byte("［")) &&
		!bytes.Contains(literal, []byte(`\u`)) {
		return nil, false
	}
	var text string
	if json.Unmarshal(literal, &text) != nil {
		return nil, false // no string: whoever reads it will say so
	}
	safe := QuoteNotes(text)
	if safe == text {
		return nil, false
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(safe) != nil {
		return nil, false // cannot be: it is a string
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), true
}
