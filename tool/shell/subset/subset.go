package subset

import "fmt"

// A Shell is what will run a text. The zero Shell reads nothing.
type Shell int

const (
	Bash Shell = iota + 1
	Dash
	Zsh
)

func (s Shell) String() string {
	switch s {
	case Bash:
		return "bash"
	case Dash:
		return "dash"
	case Zsh:
		return "zsh"
	}
	return fmt.Sprintf("Shell(%d)", int(s))
}

// Named is the shell that a program of the name is.
func Named(program string) (Shell, bool) {
	switch program {
	case "bash":
		return Bash, true
	case "sh", "dash":
		return Dash, true
	case "zsh":
		return Zsh, true
	}
	return 0, false
}

// Outside says which construct of a text is outside the subset, and in which line.
type Outside struct {
	Construct string
	Line      int
}

func (o *Outside) Error() string {
	return fmt.Sprintf("line %d: %s", o.Line, o.Construct)
}

// An Entry is a piece of what was read: a simple command; the words of a for loop; the
// redirections of a group, loop or condition; or, as the last entry, the end.
type Entry struct {
	Line int
	// Before has the operators and reserved words between the entry before and this one,
	// separated by blanks: "&&", "|", "; if", ") ; for x in". Commands of a substitution
	// follow the entry whose word has it, between "$(" and ")".
	Before  string
	Assigns []Assign
	Words   []Word
	Redirs  []Redirect
}

// An Assign is an assignment alone or before a command.
type Assign struct {
	Name   string
	Append bool // name+=value
	Value  Word
}

// A Redirect is a redirection. The target of a here-document is its delimiter.
type Redirect struct {
	Fd     string // the digit before the operator, if any
	Op     string
	Target Word
	Body   string // of a here-document
}

// A Word is one word of a command.
type Word struct {
	Raw string // as it is spelled
	// Known says that the word is Text, whatever happens: it has no expansion.
	Known bool
	Text  string // without quotes, if Known
	// Shape is the word without quotes, in a spelling of its own: quoted characters that
	// would mean something unquoted have a backslash, expansions are ${name} or $(), with
	// a double quote before them if they are quoted.
	Shape string
}
