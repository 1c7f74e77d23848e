package crew

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/assent-dev/assent/internal/config"
)

// CheckInput reports why a worker does not take an input.
func CheckInput(w *config.Worker, input json.RawMessage) error {
	if err := fits(w.InputSchema, input); err != nil {
		return fmt.Errorf("the input does not fit the input_schema of %s: %w", w.Name, err)
	}
	return nil
}

// An OutputError says that a worker did not answer as it promised.
type OutputError struct {
	Worker string
	Err    error
}

func (e *OutputError) Error() string {
	return fmt.Sprintf("the answer of %s does not fit its output_schema: %v", e.Worker, e.Err)
}

func (e *OutputError) Unwrap() error { return e.Err }

// CheckOutput reports why what a worker said is not what it promised.
func CheckOutput(w *config.Worker, text string) error {
	if len(w.OutputSchema) == 0 {
		return nil
	}
	if err := fits(w.OutputSchema, json.RawMessage(text)); err != nil {
		return &OutputError{Worker: w.Name, Err: err}
	}
	return nil
}

func fits(schema, data json.RawMessage) error {
	if len(schema) == 0 {
		return nil
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	return resolved.Validate(value)
}

// InputText is an input as the model reads it: a text as it is, anything else as JSON.
func InputText(input json.RawMessage) string {
	var text string
	if json.Unmarshal(input, &text) == nil {
		return text
	}
	var b bytes.Buffer
	if json.Indent(&b, input, "", "  ") != nil {
		return string(input)
	}
	return b.String()
}
