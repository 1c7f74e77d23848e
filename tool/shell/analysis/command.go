package analysis

// A Command is text in canonical form. Only [Read] makes one; the zero Command is
// empty and runs nothing.
type Command struct{ text, original string }

// String returns the canonical text: what is judged, shown and executed.
func (c Command) String() string { return c.text }

// Original returns the text as it was given.
func (c Command) Original() string { return c.original }

// Changed reports whether the canonical text says more than white space differently
// from the original, so that both are worth showing.
func (c Command) Changed() bool { return !sameText(c.text, c.original, false) }
