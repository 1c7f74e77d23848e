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
		data, err = canonical.CanonicalArguments(data)
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
		fmt.Fprintf(&b, "title: %s\n", d.tool.Title)
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
