package config

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A shape says what may stand at a place of a file. Files are read by it and the schema for
// editors is made of it, so that neither knows a key that the other does not.
type shape struct {
	kinds kinds
	// keys are those of a mapping whose keys are fixed; values is the shape of what stands
	// in one whose keys are names that people choose.
	keys   []key
	values *shape
	items  *shape   // of a list
	words  []string // the texts that are taken; none means any
	// refused are keys of other systems, with what to write instead.
	refused map[string]string
}

// A key is one of a mapping.
type key struct {
	name  string
	about string // for whoever edits the file, in a line
	shape *shape
	// needed says that a file without it is refused, older that it is an older spelling of
	// another key.
	needed, older bool
}

// kinds are what a value can be; a shape may take several.
type kinds uint8

const (
	aText kinds = 1 << iota
	aBool
	aCount
	aList
	aMapping
)

var (
	text     = &shape{kinds: aText}
	yesNo    = &shape{kinds: aBool}
	count    = &shape{kinds: aCount}
	duration = &shape{kinds: aText | aCount}
	texts    = &shape{kinds: aList, items: text}
	anything = &shape{}
)

func oneOf(words ...string) *shape { return &shape{kinds: aText, words: words} }
func listOf(items *shape) *shape   { return &shape{kinds: aList, items: items} }
func namesTo(values *shape) *shape { return &shape{kinds: aMapping, values: values} }
func mapping(keys ...[]key) *shape { return &shape{kinds: aMapping, keys: slices.Concat(keys...)} }
func boolOr(s shape) *shape        { s.kinds |= aBool; return &s }

// find returns the key of the name, nil if the mapping has none.
func (s *shape) find(name string) *key {
	i := slices.IndexFunc(s.keys, func(k key) bool { return k.name == name })
	if i < 0 {
		return nil
	}
	return &s.keys[i]
}

// names returns the keys of the shape, without older spellings.
func (s *shape) names() []string {
	var out []string
	for _, k := range s.keys {
		if !k.older {
			out = append(out, k.name)
		}
	}
	return out
}

// Schema returns the JSON schema of a kind of file, for editors. It is made of the tables
// that files are read by. In a .worker file it is for the front matter.
func Schema(kind Kind) (json.RawMessage, error) {
	s, ok := map[Kind]*shape{PolicyFile: policyShape, WorkerFile: workerShape, UserFile: userShape, TeamFile: teamShape}[kind]
	if !ok {
		return nil, fmt.Errorf("there is no schema %q; there is worker, policy, config and team", kind)
	}
	top := s.schema()
	top["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	top["title"] = "assent " + string(kind)
	return json.MarshalIndent(top, "", "  ")
}

// schema describes the shape. A mapping or a list may be left empty.
func (s *shape) schema() map[string]any {
	out := map[string]any{}
	var types []string
	if s.kinds&aText != 0 {
		types = append(types, "string")
	}
	if s.kinds&aBool != 0 {
		types = append(types, "boolean")
	}
	if s.kinds&aCount != 0 {
		types = append(types, "integer")
		out["minimum"] = 0
	}
	if s.kinds&aList != 0 {
		types = append(types, "array")
		out["items"] = s.items.schema()
	}
	if s.kinds&aMapping != 0 {
		types = append(types, "object")
		s.mappingSchema(out)
	}
	if s.kinds&(aList|aMapping) != 0 {
		types = append(types, "null")
	}
	if len(types) > 0 {
		out["type"] = types
	}
	if len(s.words) > 0 {
		s.onlyWords(out)
	}
	return out
}

func (s *shape) mappingSchema(out map[string]any) {
	if s.values != nil {
		out["additionalProperties"] = s.values.schema()
		return
	}
	properties, needed := map[string]any{}, []string{}
	for _, k := range s.keys {
		property := k.shape.schema()
		property["description"] = k.about
		if k.older {
			property["deprecated"] = true
		}
		properties[k.name] = property
		if k.needed {
			needed = append(needed, k.name)
		}
	}
	out["properties"], out["additionalProperties"] = properties, false
	if len(needed) > 0 {
		out["required"] = needed
	}
}

// onlyWords limits texts to words and leaves other kinds alone.
func (s *shape) onlyWords(out map[string]any) {
	if s.kinds == aText {
		out["enum"] = s.words
		return
	}
	out["if"], out["then"] = map[string]any{"type": "string"}, map[string]any{"enum": s.words}
}
