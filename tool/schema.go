package tool

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// compileSchema makes a schema ready to check arguments. No schema is nil.
func compileSchema(raw json.RawMessage) (*jsonschema.Resolved, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if err := checkShape(raw); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if s.Type != "" && s.Type != "object" {
		return nil, fmt.Errorf("schema: arguments are an object, the schema is about type %q", s.Type)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return resolved, nil
}

// schemaOf returns the schema of a Go type for arguments.
func schemaOf[In any]() (*jsonschema.Schema, error) {
	schema, err := jsonschema.For[In](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {}, // any JSON, not a list of bytes
		reflect.TypeFor[json.Number]():     {Type: "number"},
	}})
	if err != nil {
		return nil, fmt.Errorf("schema of the arguments: %w", err)
	}
	return schema, nil
}
