package tool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A schema may come from a stranger. What could keep a check from ending is
// refused before any call.
func TestSchemasThatWouldNotEndAreRefused(t *testing.T) {
	var doubling strings.Builder
	doubling.WriteString(`{"type": "object", "$defs": {"d0": {}`)
	for i := range 30 {
		fmt.Fprintf(&doubling, `, "d%d": {"allOf": [{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%d"}]}`, i+1, i, i)
	}
	doubling.WriteString(`}, "allOf": [{"$ref": "#/$defs/d30"}]}`)
	for name, c := range map[string]struct{ schema, want string }{
		"refers to itself":         {`{"type": "object", "$ref": "#"}`, "only references to parts"},
		"in a circle":              {`{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}`, "refers to itself"},
		"in a circle, by property": {`{"$defs": {"a": {"properties": {"x": {"$ref": "#/$defs/a"}}}}, "$ref": "#/$defs/a"}`, "refers to itself"},
		"doubling":                 {doubling.String(), "more than 20000 parts"},
		"to another place":         {`{"$ref": "https://example.com/s.json"}`, "only references to parts"},
		"to nowhere":               {`{"$ref": "#/$defs/none"}`, "no such part"},
		"too large":                {`{"description": "` + strings.Repeat("x", maxSchemaBytes) + `"}`, "bytes"},
	} {
		_, err := compileSchema(json.RawMessage(c.schema))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	shared := `{"type": "object", "$defs": {"name": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/name"}, "b": {"$ref": "#/$defs/name"}}}`
	schema, err := compileSchema(json.RawMessage(shared))
	if err != nil {
		t.Fatal(err)
	}
	if err := checkArguments("x", schema, json.RawMessage(`{"a": "1", "b": 2}`)); err == nil || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("a reference that is fine does not hold: %v", err)
	}
}
