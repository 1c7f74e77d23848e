package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// compileSchema makes a schema ready to check arguments.
func compileSchema(raw json.RawMessage) (*jsonschema.Resolved, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return resolved, nil
}

// An ArgumentError says which argument of a call does not fit the tool.
type ArgumentError struct {
	Tool  string
	Field string // empty for the arguments as a whole
	Err   error
}

func (e *ArgumentError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("arguments of %s: %v", e.Tool, e.Err)
	}
	return fmt.Sprintf("argument %q of %s: %v", e.Field, e.Tool, e.Err)
}

func (e *ArgumentError) Unwrap() error { return e.Err }

// checkArguments reports the first argument that does not fit the schema.
func checkArguments(tool string, schema *jsonschema.Resolved, args json.RawMessage) error {
	if schema == nil {
		return nil
	}
	value, err := decode(args)
	if err != nil {
		return &ArgumentError{Tool: tool, Err: err}
	}
	err = schema.Validate(value)
	if err == nil {
		return nil
	}
	object, _ := value.(map[string]any)
	return &ArgumentError{Tool: tool, Field: faultyField(schema, object), Err: trimError(err)}
}

func decode(args json.RawMessage) (any, error) {
	var value any
	err := json.NewDecoder(bytes.NewReader(args)).Decode(&value)
	return value, err
}

// faultyField finds the argument that does not fit by trying each on its own.
func faultyField(schema *jsonschema.Resolved, object map[string]any) string {
	root := schema.Schema()
	for _, name := range root.Required {
		if _, there := object[name]; !there {
			return name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		property, known := root.Properties[name]
		if !known {
			if root.AdditionalProperties != nil {
				return name
			}
			continue
		}
		alone, err := property.CloneSchemas().Resolve(nil)
		if err == nil && alone.Validate(object[name]) != nil {
			return name
		}
	}
	return ""
}

// trimError drops the schema library's path, which speaks of the schema and not
// of the arguments, and cuts a value that is quoted at length.
func trimError(err error) error {
	text := err.Error()
	for {
		rest, ok := strings.CutPrefix(text, "validating ")
		if !ok {
			break
		}
		if _, rest, ok = strings.Cut(rest, ": "); !ok {
			break
		}
		text = rest
	}
	const limit = 300
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return errors.New(text)
}
