package programs

// A verb is what is done with an operand, or with the argument of a flag.
type verb uint8

const (
	text verb = iota
	read
	list     // a folder of which names and sizes are read
	readList // a file that names further files
	write
	remove
	move
	link
	into
	connect
	fetch       // talks to a host if something is missing here, and does without
	remote      // host:path, or a file that is read
	remoteWrite // host:path, or a file that is written
	run         // a program and its arguments; as a flag: a shell command
	shell       // words that are joined and handed to a shell
	script
	code
	assign
	chdir
)

// String returns the name that the data files use.
func (v verb) String() string {
	switch v {
	case text:
		return "text"
	case read:
		return "read"
	case list:
		return "list"
	case readList:
		return "read-list"
	case write:
		return "write"
	case remove:
		return "delete"
	case move:
		return "move"
	case link:
		return "link"
	case into:
		return "into"
	case connect:
		return "connect"
	case fetch:
		return "fetch"
	case remote:
		return "remote"
	case remoteWrite:
		return "remote-write"
	case run:
		return "run"
	case shell:
		return "shell"
	case script:
		return "script"
	case code:
		return "code"
	case assign:
		return "assign"
	case chdir:
		return "chdir"
	}
	return ""
}

// verbNamed is the inverse of String.
func verbNamed(name string) (verb, bool) {
	for v := text; v.String() != ""; v++ {
		if v.String() == name {
			return v, true
		}
	}
	return text, false
}

// harmful reports whether this does more than read and print.
func (v verb) harmful() bool {
	switch v {
	case text, read, list, readList, chdir, assign:
		return false
	}
	return true
}

// isFile reports whether the word is a path.
func (v verb) isFile() bool {
	switch v {
	case read, list, readList, write, remove, move, link, into:
		return true
	}
	return false
}

// A role is what an operand is for.
type role struct {
	verb verb
	tree bool // everything below the path is meant
	min  int
	many bool // any number from min up
	opt  bool // one or none
}

// A style is how a program writes its arguments.
type style uint8

const (
	abbreviates style = 1 << iota // long flags may be cut short
	clusters                      // -abc is -a -b -c
	stops                         // flags end at the first operand
	oneHyphen                     // -long
	pairs                         // key=value
	wordsOnly                     // no flags at all
	bundled                       // the first word is a cluster even without a hyphen
)

// styleNamed returns what the data files call by that name.
func styleNamed(name string) (style, bool) {
	switch name {
	case "gnu":
		return abbreviates | clusters, true
	case "posix":
		return abbreviates | clusters | stops, true
	case "exact":
		return clusters, true
	case "single":
		return oneHyphen, true
	case "pairs":
		return abbreviates | clusters | pairs, true
	case "words":
		return wordsOnly, true
	case "old":
		return abbreviates | clusters | bundled, true
	}
	return 0, false
}

// A place is where a line stands.
type place struct {
	entry string // the program's own name: entries may be like one another
	line  int
}

// A flag is one line of an entry.
type flag struct {
	names    []string
	args     int  // how many words it takes
	optional bool // its one argument may be left out, and is attached if not
	does     []role
	turns    *role
	drops    int
	alarm    string
	tree     bool
	ok       bool // an allow for the program covers it
	also     bool // may follow the subcommand
	ends     bool // no word behind it is a flag
	dash     bool // a value of - is standard input or output
	place    place
}

// spelled reports whether only an allow that spells the flag covers it. A list of
// files is such a flag too: it may name any.
func (f *flag) spelled() bool {
	lists := f.turns != nil && f.turns.verb == readList
	for _, r := range f.does {
		lists = lists || r.verb == readList
	}
	return !f.ok && (lists || f.harmful())
}

// harmful reports whether the flag does more than read and print.
func (f *flag) harmful() bool {
	if f.alarm != "" || f.turns != nil && f.turns.verb.harmful() {
		return true
	}
	for _, r := range f.does {
		if r.verb.harmful() {
			return true
		}
	}
	return false
}

// reads reports whether the flag has its argument, or more of the operands, read.
func (f *flag) reads() bool {
	return f.tree || f.turns != nil || f.drops > 0 || len(f.does) > 0
}

// A condition says with, or without, which flags a line of an entry holds.
type condition struct {
	flags  []string
	unless bool
}

// A line of roles holds under a condition; the first that holds is used.
type operandLine struct {
	roles []role
	when  condition
	place place
}

// A fixedLine is an effect that no word of the invocation names.
type fixedLine struct {
	role    role
	paths   []string
	when    condition
	unpiped bool // not if standard input is a pipe or a file
	place   place
}

// letters are flags of one letter, by it. Most subcommands are never looked at, and have no room
// for any.
type letters []*flag

func (l letters) get(c byte) *flag {
	if int(c) >= len(l) {
		return nil
	}
	return l[c]
}

func (l *letters) set(c byte, f *flag) {
	if *l == nil {
		*l = make(letters, 128)
	}
	(*l)[c] = f
}

// An entry is what is known about a program, or about one of its subcommands.
type entry struct {
	name     string // the program's name, then those of the subcommands
	style    style
	styled   bool // it names its style itself
	preset   bool
	tells    []string // flags with which, alone, it prints its version and ends
	simple   bool     // it does nothing but what it does to the files that it names
	project  bool     // runs the project's own code
	raises   bool
	remote   bool // what it runs runs elsewhere
	open     string
	opaque   string // why what it is handed cannot be read
	stdin    bool   // it hands standard input to a shell
	responds bool   // words that begin with @ name files with further words
	prefix   int    // -1 for the default
	special  string
	flags    []*flag
	short    letters
	long     map[string]*flag // with hyphens; "of=" for pairs
	prefixes []*flag          // flags written -D*
	number   *flag            // -20
	plus     *flag            // +something
	operands []operandLine
	defaults []fixedLine
	fixed    []fixedLine
	means    [][]string // a flag, and those that it stands for
	subs     map[string]*entry
	unread   *unread // what a subcommand is parsed from

	// What its flags may do at worst: see [reader.unknown].
	harmful, reads, wraps bool
	// deepens says that a flag may have operands changed with all below them.
	deepens bool
}
