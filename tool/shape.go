package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Limits on a schema. It may come from a stranger, and checking arguments
// against it must neither recurse for ever nor take for ever.
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
