package config

import "slices"

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
