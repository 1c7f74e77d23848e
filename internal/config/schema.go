package config

import (
	"encoding/json"
	"fmt"
)

// Schema returns the JSON schema of a kind of file, for editors. It is made of the tables
// that files are read by. In a .worker file it is for the front matter.
func Schema(kind Kind) (json.RawMessage, error) {
	s, ok := map[Kind]*shape{PolicyFile: policyShape, WorkerFile: workerShape, UserFile: userShape}[kind]
	if !ok {
		return nil, fmt.Errorf("there is no schema %q; there is worker, policy and config", kind)
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
