package analysis

// A shape is what declare makes of a variable: it decides what becomes of a value.
type shape uint8

const (
	integer   shape = 1 << iota // a value is evaluated as arithmetic
	folded                      // letters change their case
	array                       // an array: declare takes a value in parentheses for code
	reference                   // a name for another variable
)

// maxReadings is how often a text is read again because of what it declares.
const maxReadings = 4

// shapeOf returns all that a variable is declared to be anywhere in the text: loops, traps
// and functions have no order. A text is read again with what its first reading found.
func (w *walker) shapeOf(name string) shape { return bornAs(name) | w.shapes[name] }

// declareShape notes what a variable is declared to be.
func (w *walker) declareShape(name string, is shape) {
	if w.shapes[name]|is != w.shapes[name] {
		w.shapes[name] |= is
		w.reshaped = true
	}
}

// bornAs is the shape of variables that the shell itself makes.
func bornAs(name string) shape {
	switch name {
	case "BASHPID", "EUID", "HISTCMD", "OPTIND", "PPID", "RANDOM", "SRANDOM", "UID",
		"SECONDS", "LINENO", "EPOCHSECONDS": // the last three in some versions
		return integer
	case "DIRSTACK", "FUNCNAME", "GROUPS", "PIPESTATUS", "MAPFILE", "COPROC", "COMP_WORDS", "COMPREPLY",
		"BASH_ALIASES", "BASH_ARGC", "BASH_ARGV", "BASH_CMDS", "BASH_LINENO", "BASH_REMATCH", "BASH_SOURCE", "BASH_VERSINFO":
		return array
	}
	return 0
}
