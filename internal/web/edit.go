package web

import (
	"bytes"
	"encoding/json"

	"github.com/assent-dev/assent/approval"
)

// argumentText returns the argument that the request names as text to edit.
func argumentText(r *approval.Request) (string, bool) {
	var all map[string]json.RawMessage
	if r.Edit.Argument == "" || json.Unmarshal(r.Call.Arguments, &all) != nil {
		return "", false
	}
	var text string
	if json.Unmarshal(all[r.Edit.Argument], &text) != nil {
		return "", false
	}
	return text, true
}

// indented is JSON as people read it.
func indented(data []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, data, "", "  ") != nil {
		return string(data)
	}
	return out.String()
}
