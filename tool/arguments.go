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
			return &ArgumentError{Tool: tool, Field: name, Err: fmt.Errorf("there is %q as well, which differs in case only", other)}
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
