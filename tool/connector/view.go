package connector

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
)

// title is the call in one line.
func (c *Connector) title(e *entry, target policy.Target) string {
	name := c.cfg.Name + ":" + e.now.tool.Name
	if target.Kind == policy.KindText && !target.Unknown {
		name += " on " + target.Text
	}
	if e.old != nil {
		return name + " (its definition changed)"
	}
	return name
}

// view shows all the arguments and, as a quotation, what the connector says about itself.
// Where the definition changed it shows how, with the arguments above.
func (c *Connector) view(e *entry, args json.RawMessage) func(context.Context) (present.View, error) {
	return func(context.Context) (present.View, error) {
		about := c.about(e)
		if e.old == nil {
			return present.View{Kind: present.Structured, Content: layOut(args), Language: "json", Facts: about}, nil
		}
		v, err := e.now.diff(*e.old, c.cfg.Launch())
		v.Facts = append(about, present.TextFact("arguments", string(args)))
		return v, err
	}
}

// about says where the tool comes from.
func (c *Connector) about(e *entry) present.Facts {
	t := e.now.tool
	facts := present.Facts{present.TextFact("connector", c.cfg.Name+", "+c.cfg.Launch())}
	if e.doubt != "" {
		facts = append(facts, present.TextFact("attention", e.doubt))
	}
	if t.Description != "" {
		facts = append(facts, present.TextFact("the connector says", quoted(t.Description)))
	}
	if hints := hints(t.Annotations); hints != "" {
		facts = append(facts, present.TextFact("it claims to be", hints))
	}
	for i, f := range facts {
		if text, ok := f.Text(); ok {
			facts[i] = present.TextFact(f.Name(), strings.ToValidUTF8(text, "\uFFFD"))
		}
	}
	return facts
}

// quoted marks the words of a stranger.
func quoted(text string) string {
	const most = 400
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return "“" + text + "”"
}

// hints are what the server says about the tool, in words.
func hints(a *mcp.ToolAnnotations) string {
	if a == nil {
		return ""
	}
	said := map[string]bool{
		"read-only":                       a.ReadOnlyHint,
		"destructive":                     destructive(a),
		"not destructive":                 a.DestructiveHint != nil && !*a.DestructiveHint,
		"idempotent":                      a.IdempotentHint,
		"in touch with the outside world": a.OpenWorldHint != nil && *a.OpenWorldHint,
	}
	maps.DeleteFunc(said, func(_ string, is bool) bool { return !is })
	return strings.Join(slices.Sorted(maps.Keys(said)), ", ")
}
