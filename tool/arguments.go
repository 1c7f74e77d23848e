package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// An ArgumentError says which argument of a call does not fit the tool.
type ArgumentError struct {
	Tool string
	// Field is where the fault is, such as to or items[2].name; empty for the
	// arguments as a whole.
	Field string
	Err   error
}

func (e *ArgumentError) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("arguments of %s: %v", e.Tool, e.Err)
	}
	return fmt.Sprintf("argument %q of %s: %v", e.Field, e.Tool, e.Err)
}

func (e *ArgumentError) Unwrap() error { return e.Err }

// maxLocated is how large arguments may be for the fault in them to be located:
// each part is tried on its own for that.
const maxLocated = 64 << 10

// checkArguments reports with an [*ArgumentError] the first argument that does
// not fit the schema. Of several faults it is always the same one.
func checkArguments(tool string, schema *jsonschema.Resolved, args json.RawMessage) error {
	if schema == nil {
		var object map[string]json.RawMessage // numbers of any size are as good as others
		if err := json.Unmarshal(args, &object); err != nil {
			return &ArgumentError{Tool: tool, Err: err}
		}
		return clashing(tool, object)
	}
	object, err := decodeObject(args)
	if err != nil {
		return &ArgumentError{Tool: tool, Err: err}
	}
	if err := clashing(tool, object); err != nil {
		return err
	}
	l := locator{root: schema.Schema()}
	if err := schema.Validate(object); err != nil {
		if len(args) > maxLocated {
			return &ArgumentError{Tool: tool, Err: trimError(err)}
		}
		field, fault := l.find("", l.root, object, err)
		return &ArgumentError{Tool: tool, Field: field, Err: fault}
	}
	if field, err := l.misspelt("", l.root, object); err != nil {
		return &ArgumentError{Tool: tool, Field: field, Err: err}
	}
	return nil
}

func decodeObject(args json.RawMessage) (map[string]any, error) {
	var object map[string]any
	err := json.Unmarshal(args, &object)
	return object, err
}

// clashing finds two arguments whose names differ in case only. Some decoders,
// Go's too, take either for the other, so that what is shown and what is done
// could be two things.
func clashing[V any](tool string, object map[string]V) error {
	if len(object) < 2 {
		return nil
	}
	seen := make(map[string]string, len(object))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		folded := strings.ToLower(strings.ToUpper(name))
		if other, there := seen[folded]; there {
			err := fmt.Errorf("there is %q as well, which differs in case only", other)
			return &ArgumentError{Tool: tool, Field: name, Err: err}
		}
		seen[folded] = name
	}
	return nil
}

// decodeInto reads arguments into a Go value. Strictly, names that it does not
// know are refused; otherwise they are passed over.
func decodeInto[In any](tool string, args json.RawMessage, strict bool) (In, error) {
	var in In
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber() // where the type is open, numbers keep their text
	if strict {
		dec.DisallowUnknownFields()
	}
	err := dec.Decode(&in)
	if err == nil {
		return in, nil
	}
	fault := &ArgumentError{Tool: tool, Err: err}
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		fault.Field, fault.Err = wrong.Field, fmt.Errorf("%s does not fit %s", wrong.Value, wrong.Type)
	}
	return in, fault
}

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

// Limits on a schema. It may come from a stranger, and checking arguments
// against it must neither recurse forever nor take forever.
const (
	maxSchemaBytes = 1 << 20
	maxSchemaParts = 20_000 // with every reference written out
)

// checkShape refuses a schema that is too large, refers to itself, or to
// anything outside itself.
func checkShape(raw json.RawMessage) error {
	if len(raw) > maxSchemaBytes {
		return fmt.Errorf("it has %d bytes; %d are taken at most", len(raw), maxSchemaBytes)
	}
	var root any
	if err := json.Unmarshal(raw, &root); err != nil {
		return err
	}
	s := shape{root: root, sizes: map[string]int{}, open: map[string]bool{}}
	_, err := s.size(root)
	return err
}

// A shape counts the parts of a schema.
type shape struct {
	root  any
	sizes map[string]int  // of what references lead to
	open  map[string]bool // references that are being counted
}

var errSchemaSize = fmt.Errorf("it has more than %d parts with its references written out", maxSchemaParts)

func (s *shape) size(node any) (total int, err error) {
	add := func(n int, e error) error {
		if total += n; e == nil && total > maxSchemaParts {
			e = errSchemaSize
		}
		return e
	}
	switch node := node.(type) {
	case []any:
		for _, child := range node {
			if err := add(s.size(child)); err != nil {
				return 0, err
			}
		}
	case map[string]any:
		total = 1
		for key, child := range node {
			if ref, ok := child.(string); ok && isReference(key) {
				err = add(s.reference(key, ref))
			} else {
				err = add(s.size(child))
			}
			if err != nil {
				return 0, err
			}
		}
	}
	return total, nil
}

func isReference(key string) bool {
	return key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef"
}

// reference counts what a reference leads to.
func (s *shape) reference(key, ref string) (int, error) {
	if n, known := s.sizes[ref]; known {
		return n, nil
	}
	if key != "$ref" || !strings.HasPrefix(ref, "#/") {
		return 0, fmt.Errorf("%s %q: only references to parts of the same schema, #/…, are taken", key, ref)
	}
	if s.open[ref] {
		return 0, fmt.Errorf("$ref %q: it refers to itself", ref)
	}
	target, err := s.lookup(ref)
	if err != nil {
		return 0, err
	}
	s.open[ref] = true
	n, err := s.size(target)
	delete(s.open, ref)
	s.sizes[ref] = n
	return n, err
}

var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")

func (s *shape) lookup(ref string) (any, error) {
	node := s.root
	for _, step := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		object, ok := node.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("$ref %q: %w", ref, errNoTarget)
		}
		if node, ok = object[pointerEscapes.Replace(step)]; !ok {
			return nil, fmt.Errorf("$ref %q: %w", ref, errNoTarget)
		}
	}
	return node, nil
}

var errNoTarget = errors.New("there is no such part")
