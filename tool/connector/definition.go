package connector

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// A definition is what a server says about one tool, as far as we understand it: what we
// do not understand is not passed on, so it cannot matter.
type definition struct {
	tool *mcp.Tool
	json json.RawMessage // canonical
	hash string
}

// hashScheme names how definitions are hashed. Another way gets another name, so that pins
// of an older one are seen to be older and not taken for changes.
const hashScheme = "h1:"

// define makes a definition of a listed tool, of a server that is launched so.
func define(t *mcp.Tool, launch string) (definition, error) {
	data, err := json.Marshal(t)
	if err == nil {
		data, err = canonical.Arguments(data)
	}
	if err != nil {
		return definition{}, fmt.Errorf("its definition: %w", err)
	}
	return definition{tool: t, json: data, hash: hashOf(launch, data)}, nil
}

func hashOf(launch string, data []byte) string {
	from := policy.DigestOf([]byte(launch)).String()
	return hashScheme + policy.DigestOf(append([]byte(from+"\n"), data...)).String()
}

// readDefinition reads a definition that was pinned.
func readDefinition(p Pin) (definition, error) {
	var t mcp.Tool
	if err := json.Unmarshal(p.Tool, &t); err != nil {
		return definition{}, fmt.Errorf("the kept definition: %w", err)
	}
	return definition{tool: &t, json: p.Tool, hash: p.Hash}, nil
}

// schema returns the schema of the arguments, with the hash in it: so whatever is pinned
// is part of what the model was shown, and grants end with it.
func (d definition) schema() (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	data, err := json.Marshal(d.tool.InputSchema)
	if err == nil && string(data) != "null" {
		err = json.Unmarshal(data, &fields)
	}
	if err != nil {
		return nil, fmt.Errorf("the schema of its arguments: %w", err)
	}
	fields["$comment"] = json.RawMessage(`"` + d.hash + `"`)
	return json.Marshal(fields)
}

// lines lays the definition out for a diff.
func (d definition) lines(launch string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "launched as: %s\n", launch)
	fmt.Fprintf(&b, "name: %s\n", d.tool.Name)
	if d.tool.Title != "" {
		fmt.Fprintf(&b, "title: %s\n", strings.ReplaceAll(d.tool.Title, "\n", "\n  "))
	}
	fmt.Fprintf(&b, "description:\n")
	for line := range strings.Lines(d.tool.Description) {
		fmt.Fprintf(&b, "  %s\n", strings.TrimSuffix(line, "\n"))
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(d.json, &fields); err != nil {
		return b.String() + string(d.json) + "\n"
	}
	for _, name := range []string{"annotations", "inputSchema", "outputSchema", "icons", "_meta"} {
		if data, ok := fields[name]; ok {
			fmt.Fprintf(&b, "%s: %s\n", name, layOut(data))
		}
	}
	return b.String()
}

// diff shows how the definition differs from one that was pinned.
func (d definition) diff(old Pin, launch string) (present.View, error) {
	before, err := readDefinition(old)
	if err != nil {
		return present.View{}, err
	}
	name := d.tool.Name
	a := present.Side{Name: name, Text: before.lines(old.Launch)}
	b := present.Side{Name: name, Text: d.lines(launch)}
	if a.Text == b.Text { // only what is not shown differs, such as the query of a URL
		a.Text += "hash: " + old.Hash + "\n"
		b.Text += "hash: " + d.hash + "\n"
	}
	return present.DiffView(a, b), nil
}

// layOut writes JSON in lines, unless it is nested so much that nobody could read it.
func layOut(data json.RawMessage) string {
	const most = 1000
	if bytes.Count(data, []byte("{"))+bytes.Count(data, []byte("[")) > most {
		return string(data)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		return string(data)
	}
	return b.String()
}

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
