package connector

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bare returns a tool as models are shown it before anybody agreed to it: what it takes,
// without a word of its server's.
func bare(connector string, t *mcp.Tool) *mcp.Tool {
	return &mcp.Tool{
		Name:        t.Name,
		Description: fmt.Sprintf("A tool of connector %s that nobody has agreed to yet. A call asks a person first.", connector),
		InputSchema: bareSchema(t.InputSchema),
	}
}

// structural are the keywords of a schema that say what fits, each with how deep its value
// is made of schemas: 0 not at all, 1 a schema or a list of them, 2 an object of them.
var structural = map[string]int{
	"type": 0, "required": 0, "minimum": 0, "maximum": 0, "exclusiveMinimum": 0, "exclusiveMaximum": 0, "multipleOf": 0,
	"minLength": 0, "maxLength": 0, "minItems": 0, "maxItems": 0, "uniqueItems": 0, "$ref": 0,
	"items": 1, "additionalProperties": 1, "anyOf": 1, "oneOf": 1, "allOf": 1, "not": 1,
	"properties": 2, "$defs": 2, "definitions": 2,
}

// bareSchema returns a schema without what is there to be read: titles, descriptions,
// comments, examples, defaults.
func bareSchema(schema any) any {
	data, err := json.Marshal(schema)
	var decoded any
	if err != nil || json.Unmarshal(data, &decoded) != nil || decoded == nil {
		return map[string]any{"type": "object"}
	}
	return stripped(decoded)
}

func stripped(schema any) any {
	if list, ok := schema.([]any); ok {
		out := make([]any, len(list))
		for i, s := range list {
			out[i] = stripped(s)
		}
		return out
	}
	object, ok := schema.(map[string]any)
	if !ok {
		return schema // true or false
	}
	out := map[string]any{}
	for name, value := range object {
		depth, known := structural[name]
		switch {
		case !known:
		case depth == 0:
			out[name] = value
		case depth == 1:
			out[name] = stripped(value)
		default:
			out[name] = strippedEach(value)
		}
	}
	return out
}

func strippedEach(schemas any) any {
	object, ok := schemas.(map[string]any)
	if !ok {
		return map[string]any{}
	}
	out := make(map[string]any, len(object))
	for name, schema := range object {
		out[name] = stripped(schema)
	}
	return out
}
