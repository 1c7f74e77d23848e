package config

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/command"
)

// customTools reads the tools that the file names, in its order. One without a command is
// an executable beside the file, or a tool of the embedding program: who knows those fills
// it in.
func (r *report) customTools(n ast.Node) []command.Config {
	var out []command.Config
	for _, e := range r.entries(n, "custom_tools") {
		c := r.customTool(e.value, e.name)
		c.Source = r.source(e.key)
		if _, err := policy.CompileName(policy.EffectDeny, e.name); err != nil || strings.ContainsAny(e.name, "*?/") {
			r.problem(e.key, "custom_tools: invalid tool name %q", e.name)
		}
		r.checkCustomTool(e.key, c)
		out = append(out, c)
	}
	return out
}

func (r *report) customTool(n ast.Node, name string) command.Config {
	what := "custom_tools." + name
	o := r.object(n, what, customToolShape)
	c := command.Config{Name: name}
	said := o.consent(what)
	c.Approval, c.Reason = said.word, said.reason
	c.Description = valueAt(o, "description", r.text, what+": description")
	c.Describe = valueAt(o, "describe", r.text, what+": describe")
	c.Target = valueAt(o, "target", r.text, what+": target")
	if n, ok := o.take("command"); ok {
		if c.Command = r.texts(n, what+": command"); len(c.Command) == 0 {
			r.problem(n, "%s: command is empty; leave it out for an executable in tools/", what)
		}
	}
	c.Parameters = valueAt(o, "parameters", r.schema, what+": parameters")
	c.View = valueAt(o, "view", r.customView, what+".view")
	c.Timeout = valueAt(o, "timeout", r.duration, what+": timeout")
	c.Env = valueAt(o, "env", r.texts, what+": env")
	return c
}

func (r *report) customView(n ast.Node, what string) command.View {
	o := r.object(n, what, viewShape)
	return command.View{
		Type:     valueAt(o, "type", r.text, what+": type"),
		Content:  valueAt(o, "content", r.text, what+": content"),
		Language: valueAt(o, "language", r.text, what+": language"),
	}
}

// checkCustomTool reports what the tool itself would refuse.
func (r *report) checkCustomTool(at ast.Node, c command.Config) {
	if len(c.Command) == 0 {
		c.Command = []string{c.Name} // somebody else's business
	}
	err := c.Check()
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			r.problem(at, "custom_tools.%s: %v", c.Name, e)
		}
	}
}

// schema reads the JSON schema of arguments, written as YAML.
func (r *report) schema(n ast.Node, what string) json.RawMessage {
	data := r.json(n, what)
	var s struct{ Type any }
	if err := json.Unmarshal(data, &s); err == nil && s.Type != nil && s.Type != "object" {
		r.problem(n, "%s: arguments are an object; write type: object", what)
	}
	return data
}

// json reads a JSON schema as what it is in JSON.
func (r *report) json(n ast.Node, what string) json.RawMessage {
	if _, ok := n.(*ast.MappingNode); !ok {
		r.problem(n, "%s must be a JSON schema, a mapping, not %s", what, kindOf(n))
		return nil
	}
	var value map[string]any
	err := yaml.NodeToValue(n, &value)
	var data []byte
	if err == nil {
		data, err = json.Marshal(value)
	}
	if err != nil {
		r.problem(n, "%s cannot be written as JSON: %v", what, err)
		return nil
	}
	return data
}

// duration reads a time such as 30s, or a number of seconds.
func (r *report) duration(n ast.Node, what string) time.Duration {
	if _, ok := n.(*ast.IntegerNode); ok {
		seconds := r.count(n, what)
		return time.Duration(min(seconds, 1<<30)) * time.Second
	}
	text := r.text(n, what)
	d, err := time.ParseDuration(text)
	if text != "" && (err != nil || d < 0) {
		r.problem(n, "%s is a time such as 30s or 5m, not %q", what, text)
	}
	return max(d, 0)
}

// A ToolFile is what stands in NAME.yaml beside an executable in tools/.
type ToolFile struct {
	Description string
	Parameters  json.RawMessage
}

// LoadToolFile reads one. The error, if any, is of type [Problems] and has them all.
func LoadToolFile(file string, data []byte) (ToolFile, error) {
	r := &report{file: file}
	root, err := r.parse(data)
	if err != nil {
		return ToolFile{}, err
	}
	var t ToolFile
	o := r.object(root, "the file", toolFileShape)
	t.Description = valueAt(o, "description", r.text, "description")
	t.Parameters = valueAt(o, "parameters", r.schema, "parameters")
	if err := r.err(); err != nil {
		return ToolFile{}, err
	}
	return t, nil
}
