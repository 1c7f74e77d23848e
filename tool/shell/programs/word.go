package programs

// A Word is one word of a command, as far as it can be told before it runs.
type Word struct {
	// Text is what the program will see if the word is Known, and otherwise how
	// it is written.
	Text string
	// Known says that Text is exactly what the program will see.
	Known bool
	// Begin is what an unknown word is known to begin with.
	Begin string
	// Glob says that the word is a pattern for names that are there when the
	// command runs; Text is the pattern, with quoted characters escaped.
	Glob bool
	// Many says that an unknown word may turn out to be none, or several. A
	// quoted expansion is one word whatever its value.
	Many bool
	// Below is a folder: an unknown word is the path of something that lies at or below it, or
	// several if Many. Name is a pattern for the last part of the path; empty for any.
	Below, Name string
	// Input says that the word stands for what is read from standard input (xargs).
	Input bool
	// Number says that an unknown word is made of digits, such as $? and $#.
	Number bool
}

// Literal returns a word that is known.
func Literal(text string) Word { return Word{Text: text, Known: true} }

// MayBeFlag reports whether the word may begin with a hyphen.
func (w Word) MayBeFlag() bool {
	switch {
	case w.Known:
		return len(w.Text) > 0 && w.Text[0] == '-'
	case w.Number:
		return false
	case w.Begin != "":
		return w.Begin[0] == '-'
	}
	return true
}
