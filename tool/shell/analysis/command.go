package analysis

// A Text is a command that was read, as text. Only [Read] makes one; the zero Text
// is empty and runs nothing.
type Text struct {
	text, original string
	printed        bool
}

// String returns the text that is judged, shown and executed: the parsed command printed
// again if that is the same program, and else the original text.
func (c Text) String() string { return c.text }

// Original returns the text as it was given.
func (c Text) Original() string { return c.original }

// Printed reports whether the text is what the printer makes of the judged tree, and parses
// to the same tree. If it does not, the text may only be run by interpreting the tree, never
// by a shell that reads the text itself.
func (c Text) Printed() bool { return c.printed }

// Changed reports whether the text says more than white space differently from the
// original, so that both are worth showing.
func (c Text) Changed() bool { return !sameText(c.text, c.original, false) }
