package tool

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// A locator finds out which part of the arguments a schema refuses.
type locator struct{ root *jsonschema.Schema }

// find returns the place of the first fault below value, and what it is. The
// error is what the schema says about the whole value.
func (l locator) find(at string, schema *jsonschema.Schema, value any, err error) (string, error) {
	schema = l.resolve(schema)
	switch value := value.(type) {
	case map[string]any:
		if field, fault := l.inObject(at, schema, value); fault != nil {
			return field, fault
		}
	case []any:
		for i := range value {
			if schema.Items == nil {
				break
			}
			if err := l.validate(schema.Items, value[i]); err != nil {
				return l.find(fmt.Sprintf("%s[%d]", at, i), schema.Items, value[i], err)
			}
		}
	}
	return at, trimError(err)
}

func (l locator) inObject(at string, schema *jsonschema.Schema, object map[string]any) (string, error) {
	for _, name := range schema.Required {
		if _, there := object[name]; !there {
			return join(at, name), errors.New("it is missing")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		property, known := schema.Properties[name]
		switch {
		case known:
			if err := l.validate(property, object[name]); err != nil {
				return l.find(join(at, name), property, object[name], err)
			}
		case schema.AdditionalProperties != nil && len(schema.PatternProperties) == 0:
			if err := l.validate(schema.AdditionalProperties, object[name]); err != nil {
				return join(at, name), unknown(schema)
			}
		}
	}
	return "", nil
}

// unknown says which names there are.
func unknown(schema *jsonschema.Schema) error {
	if len(schema.Properties) == 0 {
		return errors.New("it is not taken; there are no arguments")
	}
	return fmt.Errorf("it is not taken; there is %s", strings.Join(slices.Sorted(maps.Keys(schema.Properties)), ", "))
}

// resolve follows a reference to a named part of the schema.
func (l locator) resolve(part *jsonschema.Schema) *jsonschema.Schema {
	for prefix, named := range map[string]map[string]*jsonschema.Schema{
		"#/$defs/": l.root.Defs, "#/definitions/": l.root.Definitions,
	} {
		if name, ok := strings.CutPrefix(part.Ref, prefix); ok && named[name] != nil {
			return named[name]
		}
	}
	return part
}

// validate tries a part of the schema on its own. A part that cannot stand on
// its own is passed over; the error for the whole is given then.
func (l locator) validate(part *jsonschema.Schema, value any) error {
	alone := part.CloneSchemas()
	if part != l.root {
		alone.Defs, alone.Definitions = l.root.Defs, l.root.Definitions
	}
	resolved, err := alone.Resolve(nil)
	if err != nil {
		return nil
	}
	return resolved.Validate(value)
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
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
	text = strings.Replace(text, "<invalid reflect.Value>", "null", 1)
	if m := bound().FindStringSubmatch(text); m != nil {
		text = m[1] + m[2]
	}
	const limit = 300
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return errors.New(text)
}

// bound matches how the schema library speaks of whole numbers.
var bound = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\w+: -?\d+)/1( is .* -?\d+)\.0+$`) })

// misspelt finds a name that the schema knows in another case.
func (l locator) misspelt(at string, schema *jsonschema.Schema, value any) (string, error) {
	schema = l.resolve(schema)
	switch value := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			property, known := schema.Properties[name]
			if !known {
				if right := inOtherCase(schema, name); right != "" {
					return join(at, name), fmt.Errorf("write it as %q", right)
				}
				if property = schema.AdditionalProperties; property == nil {
					continue
				}
			}
			if field, err := l.misspelt(join(at, name), property, value[name]); err != nil {
				return field, err
			}
		}
	case []any:
		for i := range value {
			if schema.Items == nil {
				break
			}
			if field, err := l.misspelt(fmt.Sprintf("%s[%d]", at, i), schema.Items, value[i]); err != nil {
				return field, err
			}
		}
	}
	return "", nil
}

func inOtherCase(schema *jsonschema.Schema, name string) string {
	for _, known := range slices.Sorted(maps.Keys(schema.Properties)) {
		if known != name && strings.EqualFold(known, name) {
			return known
		}
	}
	return ""
}

// unseen counts the names below value that the schema of a Go type leaves out.
func (l locator) unseen(schema *jsonschema.Schema, value any) (n int) {
	schema = l.resolve(schema)
	switch value := value.(type) {
	case map[string]any:
		for name, child := range value {
			property := schema.Properties[name]
			switch {
			case property != nil:
				n += l.unseen(property, child)
			case closed(schema):
				n++
			case schema.AdditionalProperties != nil:
				n += l.unseen(schema.AdditionalProperties, child)
			}
		}
	case []any:
		for _, child := range value {
			if schema.Items != nil {
				n += l.unseen(schema.Items, child)
			}
		}
	}
	return n
}

// closed reports whether the schema is that of a struct, which has the fields
// that it has and no others.
func closed(schema *jsonschema.Schema) bool {
	more := schema.AdditionalProperties
	return more != nil && more.Not != nil && reflect.DeepEqual(more.Not, &jsonschema.Schema{})
}
