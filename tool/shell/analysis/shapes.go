package analysis

// A shape is what declare makes of a variable: it decides what becomes of a value.
type shape uint8

const (
	integer     shape = 1 << iota // a value is evaluated as arithmetic
	folded                        // letters change their case
	array                         // an indexed array: declare takes a value in parentheses for code
	associative                   // an associative one: the same
	reference                     // a name for another variable
)

// changing are the shapes of variables that do not hold what they are given.
const changing = integer | folded | reference

// maxReadings is how often a text is read again because of what it declares.
const maxReadings = 4

// shapeOf returns all that a variable is declared to be anywhere in the text: loops, traps
// and functions have no order. A text is read again with what its first reading found.
func (w *walker) shapeOf(name string) shape { return bornAs(name) | w.shapes[name] }

// isKeyed reports whether a variable is certainly an associative array: bash does not make
// one of an indexed array, of its own variables, or of one that is read-only.
func (w *walker) isKeyed(name string, s *state) bool {
	v, _ := s.lookup(name)
	return v.keyed && w.mayBeKeyed(name, v)
}

func (w *walker) mayBeKeyed(name string, v variable) bool {
	return w.shapeOf(name)&(array|reference) == 0 && !v.fixed && !dynamic(name) && !w.isVolatile(name)
}

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
