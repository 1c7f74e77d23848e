package present

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// A Kind says what the content of a [View] is, and so how to lay it out.
// The set is closed: the constants below are all there is.
type Kind string

const (
	Text       Kind = "text"         // prose or any other text
	Diff       Kind = "diff"         // a unified diff
	File       Kind = "file_content" // the content of a file, in Language
	Command    Kind = "command"      // a command line, as it would be run
	Structured Kind = "structured"   // data in Language, such as JSON
)

// known reports whether k is one of the kinds above. The empty kind is not.
func (k Kind) known() bool {
	switch k {
	case Text, Diff, File, Command, Structured:
		return true
	}
	return false
}

// A View is what a person is shown about one request. It is a plain value: its
// methods return copies and never change it, so it may be shared freely as long
// as nobody writes to the elements of its Facts.
//
// A View is as its tool made it. Show what [View.Safe] returns, never the
// fields themselves.
type View struct {
	Kind     Kind
	Content  string // any bytes; a file need not be valid UTF-8
	Language string // a hint for highlighting, such as "go"; may be empty
	Facts    Facts  // the header, in the order to show it; may be empty
	// Original is what the model wrote, where Content says the same in other
	// words: a command before it was brought into its canonical form. Content is
	// what runs. Empty if they do not differ.
	Original string
}

// IsZero reports whether there is nothing to show. The zero View has no JSON
// form; a struct field of type View takes the option omitzero.
func (v View) IsZero() bool {
	return v.Kind == "" && v.Content == "" && v.Language == "" && len(v.Facts) == 0 && v.Original == ""
}

// Equal reports whether two views show the same: same kind, content and
// language, same facts in the same order, same original.
func (v View) Equal(w View) bool {
	return v.Kind == w.Kind && v.Content == w.Content &&
		v.Language == w.Language && slices.Equal(v.Facts, w.Facts) && v.Original == w.Original
}

// Validate reports what keeps v from being shown or written: an unknown kind
// (the zero View has one), a language or an original that is not valid UTF-8,
// or facts that [Facts.Validate] refuses. Content is never a reason.
func (v View) Validate() error {
	if !v.Kind.known() {
		return fmt.Errorf("view: unknown type %q: want one of %q, %q, %q, %q, %q",
			string(v.Kind), Text, Diff, File, Command, Structured)
	}
	if !utf8.ValidString(v.Language) {
		return fmt.Errorf("view: language %q is not valid UTF-8", v.Language)
	}
	if !utf8.ValidString(v.Original) {
		return fmt.Errorf("view: original %q is not valid UTF-8", v.Original)
	}
	if err := v.Facts.Validate(); err != nil {
		return fmt.Errorf("view: %w", err)
	}
	return nil
}

// Safe returns v with everything in it made safe to print: the content and the
// original as by [Safe], all else as by [SafeLine].
func (v View) Safe() View {
	return View{
		Kind:     Kind(SafeLine(string(v.Kind))), // an invalid view is still printed safely
		Content:  Safe(v.Content),
		Language: SafeLine(v.Language),
		Facts:    v.Facts.safe(),
		Original: Safe(v.Original),
	}
}
