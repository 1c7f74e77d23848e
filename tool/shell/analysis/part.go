package analysis

import "github.com/assent-dev/assent/tool/shell/programs"

// A Script is a command that was read.
type Script struct {
	// Text is what is judged, shown and executed.
	Text Text
	// Parts are what it would do, in the order of the text; a part stands before
	// those that it causes.
	Parts []Part
	// Odd says why the text is never allowed without a person, whatever its
	// parts: control characters, bidirectional or invisible ones, too long,
	// nested too deeply. Empty if nothing is odd.
	Odd string
	// Shows are variables that the text expands where their values may be printed, and that
	// it did not set itself; an empty name stands for the whole environment.
	Shows []string
	// Files are the scripts inside the text's reach that it runs by name: their
	// content is part of what is approved. Absolute paths.
	Files []string
}

// A PartKind is what a part is.
type PartKind int

// The kinds of parts.
const (
	Runs     PartKind = iota + 1 // starts a program, or a builtin or function of the shell
	Touches                      // reads, writes or deletes a file
	Connects                     // talks to a host
	Assigns                      // sets a variable that programs may obey
	Unknown                      // does something that cannot be told
)

// A Part is one thing that a command would do.
type Part struct {
	Kind PartKind
	// Cause is 1 + the index of the part that this one follows from, 0 for none.
	Cause int
	// Line is where it stands in the canonical text, counted from 1.
	Line int
	// Source is the text of the simple command it belongs to, as it stands there.
	Source string

	// For Runs: the words, the folder, and what the program does with them.
	Words []programs.Word
	// Dir is the folder that it runs in; empty if it is not known. For a builtin that
	// touches nothing it does not matter, and is then where the text began.
	Dir string
	// Env are the variables that are set for it alone (`A=1 cmd`, env A=1 cmd).
	Env     []programs.Assignment
	Builtin bool // done by the shell itself
	Reading programs.Reading
	// OwnCommand says that it is one of assent's own commands that answer or
	// widen: nobody approves their own call.
	OwnCommand bool
	// GitRuns are settings of the repository that would make git run programs, such
	// as "core.fsmonitor", or "hook pre-commit".
	GitRuns []string
	// Alias says that it is the command before it by another name: what a link leads to. It
	// does nothing of its own, but a deny of that name is met.
	Alias bool
	// GitPlain are what a git would run besides that is not hardened, see the package shim.
	GitPlain []string
	// Inner says that a wrapper starts it, or a substitution holds it.
	Inner bool
	// Elsewhere says that it runs on another machine or in a container: its paths
	// are not ours.
	Elsewhere bool

	// For Touches: how, and which file.
	Access programs.Kind // Read, Write or Delete
	// Operand is the file as the command names it.
	Operand programs.Word
	// Path is the file as an absolute path, or a pattern if Many; empty if it
	// is not known. For a Runs of cd it is the folder that it enters.
	Path string
	// Many says that Path stands for many files: a glob, or everything below a
	// folder. Matches are those that are there now; More says that there are
	// further ones, too many to look at.
	Many    bool
	Matches []string
	More    bool
	tree    bool // everything below Path is meant, if that is or becomes a folder
	leaves  leaves
	// Inside says that what lies below Path is meant, and not the folder itself.
	Inside bool
	// Names says that of what lies below Path only names and sizes are read.
	Names bool
	// Redirect says that a redirection does it, and not an operand.
	Redirect bool
	// ByFlag says that a flag does it, see [programs.Effect].
	ByFlag bool

	// For Connects.
	Host, Port string // Host is empty if it is not known
	TLS        bool   // it is https for certain
	Missing    bool   // only for what is missing here; see [programs.Effect]
	Word       int    // index in the command's words of the one that names the host, 0 for none
	// Settled says that the host was found in settings, or is the usual one of the program.
	// The program may talk to others: then there is a part with an unknown host as well.
	Settled bool

	// For Assigns: the variable's name. Its Cause is the command that it is set
	// for, where it is in Env too; without one it is set for all that follows.
	Variable string

	// Why says what is unknown, or why the part is not as free as it looks: a
	// setting of git that runs a program, code that cannot be read.
	Why string
	// Opaque says that code runs which cannot be read: a deny may be met.
	Opaque bool
}
