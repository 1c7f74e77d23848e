package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Result is what a server answered to a call, as it came.
type Result struct{ raw json.RawMessage }

// MarshalJSON returns what came.
func (r Result) MarshalJSON() ([]byte, error) { return r.raw, nil }

// Raw returns what came: a CallToolResult of the protocol.
func (r Result) Raw() json.RawMessage { return r.raw }

// A ToolError says that the tool ran and reported a failure, in the server's own words.
type ToolError struct{ Text string }

func (e *ToolError) Error() string {
	if e.Text == "" {
		return "the tool reports a failure and does not say which"
	}
	return e.Text
}

// result makes of an answer what the gate hands on. A failure that the tool reports has
// both: the result as it came, and an error.
func (c *Connector) result(ctx context.Context, raw json.RawMessage) (any, error) {
	if len(raw) > c.opts.MaxResult {
		return nil, fmt.Errorf("connector %s answered with %d bytes; at most %d are taken", c.cfg.Name, len(raw), c.opts.MaxResult)
	}
	failed, err := readResult(raw)
	if err != nil {
		return nil, fmt.Errorf("connector %s answered with %w", c.cfg.Name, err)
	}
	_, passes := passing(ctx)
	if passes && !failed {
		return Result{raw}, nil
	}
	text, err := textOf(raw)
	switch {
	case err != nil:
		return nil, fmt.Errorf("connector %s answered with a result that cannot be read: %w", c.cfg.Name, err)
	case failed:
		return Result{raw}, &ToolError{Text: text}
	}
	return text, nil
}

// readResult reports whether a result says that the tool failed. The error is about a result
// that nobody here understands.
func readResult(raw json.RawMessage) (failed bool, err error) {
	if len(raw) == 0 || raw[0] != '{' {
		return false, errors.New("something that is no result")
	}
	for name, value := range members(raw) {
		switch {
		case spells(name, "isError"):
			err = json.Unmarshal(value, &failed)
		case spells(name, "resultType"):
			var kind string
			if err = json.Unmarshal(value, &kind); err == nil && kind != "" && kind != "complete" {
				return false, fmt.Errorf("a result of type %q, which is not understood", kind)
			}
		}
		if err != nil {
			return false, fmt.Errorf("something that is no result: %w", err)
		}
	}
	return failed, nil
}

// spells reports whether some client may read the name of a member as this one: it can be
// written with escapes, and not every decoder tells upper from lower case.
func spells(name []byte, as string) bool {
	text := string(name)
	if strings.ContainsRune(text, '\\') && json.Unmarshal([]byte(`"`+text+`"`), &text) != nil {
		return false // cannot be: it was read as JSON
	}
	return strings.EqualFold(text, as)
}

// textOf returns a result as text for a model: texts as they are, other things named.
func textOf(raw json.RawMessage) (string, error) {
	var result mcp.CallToolResult
	if err := json.Unmarshal(raw, &result); err != nil {
		return "", err
	}
	var parts []string
	for _, content := range result.Content {
		part, err := contentText(content)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 && result.StructuredContent != nil {
		data, err := json.Marshal(result.StructuredContent)
		return string(data), err
	}
	return strings.Join(parts, "\n"), nil
}

func contentText(content mcp.Content) (string, error) {
	switch c := content.(type) {
	case *mcp.TextContent:
		return c.Text, nil
	case *mcp.ImageContent:
		return fmt.Sprintf("[image, %s, %d bytes]", c.MIMEType, len(c.Data)), nil
	case *mcp.AudioContent:
		return fmt.Sprintf("[audio, %s, %d bytes]", c.MIMEType, len(c.Data)), nil
	case *mcp.ResourceLink:
		return fmt.Sprintf("[resource %s]", c.URI), nil
	case *mcp.EmbeddedResource:
		if c.Resource == nil {
			return "", errors.New("a resource is empty")
		}
		if c.Resource.Text != "" {
			return c.Resource.Text, nil
		}
		return fmt.Sprintf("[resource %s, %d bytes]", c.Resource.URI, len(c.Resource.Blob)), nil
	}
	return fmt.Sprintf("[%T]", content), nil
}
