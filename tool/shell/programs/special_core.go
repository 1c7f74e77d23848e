package programs

import (
	"slices"
	"strings"
)

// readLn says what links are made. What a symbolic link points to is relative to
// the folder that holds the link.
func readLn(r *reader) {
	targets, at := r.operands, -1
	name := Literal(".")
	if u := r.used("-t"); u != nil && u.given {
		name, at = u.value, u.at
	} else if n := len(r.operands); n > 1 {
		targets, at = r.operands[:n-1], r.operands[n-1]
		name = r.args[at]
	}
	for _, t := range targets {
		r.linkTo(t, name)
		r.out.Effects = append(r.out.Effects, Effect{Kind: Write, What: name, Arg: at, Into: true, From: r.args[t]})
		r.plain(t)
		if w := r.args[t]; !w.Known && w.Many && !w.Glob {
			r.doubt(w.Text + " may be more than one word")
		}
	}
	if at >= 0 && len(targets) > 0 {
		r.plain(at)
	}
	if len(targets) == 0 && !r.quits {
		r.doubt("ln wants more operands")
	}
}

// linkTo notes what a link points to, wherever it may come to lie.
func (r *reader) linkTo(target int, name Word) {
	w := r.args[target]
	if r.used("-s") == nil || r.used("-r") != nil {
		r.does(role{verb: link}, w, target, false)
		return
	}
	r.does(role{verb: link}, joinPath(name, w), target, false)
	if name.Known {
		folder := "."
		if slash := strings.LastIndexByte(strings.TrimRight(name.Text, "/"), '/'); slash >= 0 {
			folder = name.Text[:slash+1]
		}
		r.does(role{verb: link}, joinPath(Literal(folder), w), target, false)
	}
}

// finishRmdir adds the parents that rmdir -p removes.
func finishRmdir(r *reader) {
	if r.used("-p") == nil {
		return
	}
	for _, at := range r.operands {
		path := strings.TrimRight(r.args[at].Text, "/")
		for slash := strings.LastIndexByte(path, '/'); slash > 0; slash = strings.LastIndexByte(path, '/') {
			path = strings.TrimRight(path[:slash], "/")
			r.file(Delete, Word{Text: path, Known: r.args[at].Known}, at, false, false)
		}
	}
}

// finishSplit notes the files that split makes.
func finishSplit(r *reader) {
	prefix, at := Literal("x"), -1
	if len(r.operands) > 1 {
		at = r.operands[1]
		prefix = r.args[at]
	}
	if r.used("--filter") == nil {
		r.file(Write, startingWith(prefix), at, false, false)
	}
}

// finishCsplit notes the files that csplit makes.
func finishCsplit(r *reader) {
	prefix := Literal("xx")
	if u := r.used("-f"); u != nil && u.given {
		prefix = u.value
	}
	r.file(Write, startingWith(prefix), -1, false, false)
}

// finishMktemp notes the file that mktemp makes after a template: a run of X in it becomes
// something else.
func finishMktemp(r *reader) {
	for k, want := range r.roles {
		w := r.args[r.operands[k]]
		if at := strings.Index(w.Text, "XXX"); at >= 0 && w.Known && want.verb == write {
			r.file(Write, startingWith(Literal(w.Text[:at])), r.operands[k], false, false)
		}
	}
}

// startingWith stands for all files whose names begin with the prefix.
func startingWith(prefix Word) Word {
	if !prefix.Known {
		return Word{Text: prefix.Text + "*", Begin: prefix.Begin}
	}
	return Word{Text: escapeGlob(prefix.Text) + "*", Begin: prefix.Text, Glob: true, Many: true}
}

// shows says that the value of a variable is printed.
func (r *reader) shows(name string) { r.out.Shows = append(r.out.Shows, name) }

// readPrintenv knows which variables are printed.
func readPrintenv(r *reader) {
	if len(r.operands) == 0 {
		r.shows("")
	}
	for _, at := range r.operands {
		if w := r.args[at]; w.Known {
			r.shows(w.Text)
		} else {
			r.shows("")
		}
	}
}

// showsAll is for programs that print, or insert, whatever the environment has.
func showsAll(r *reader) { r.shows("") }

// readMan knows that a name with a slash is a file, which is code for the formatter.
func readMan(r *reader) {
	for _, at := range r.operands {
		if w := r.args[at]; r.used("-l") != nil || !w.Known || strings.Contains(w.Text, "/") {
			r.script(w, at, false)
			r.opaque("a manual page is code for the formatter")
		}
	}
}

// finishPs knows that an e without a hyphen shows the environment of every process.
func finishPs(r *reader) {
	for i, w := range r.args {
		isFlags := i == 0 || slices.Contains(r.operands, i)
		if isFlags && !strings.HasPrefix(w.Text, "-") && (!w.Known || strings.Contains(w.Text, "e")) || w.Text == "-E" {
			r.shows("")
		}
		if !w.Known || strings.Contains(w.Text, "env") { // the column of later versions
			r.shows("")
		}
	}
}

// readValgrind knows which tools write a file of their own. A tool is a program in a folder
// that its name may leave.
func readValgrind(r *reader) {
	for i := range r.uses {
		u := &r.uses[i]
		if u.flag.names[0] != "--tool" {
			continue
		}
		switch u.value.Text {
		case "memcheck", "helgrind", "drd", "none", "lackey":
		case "cachegrind", "callgrind", "massif", "dhat":
			r.file(Write, fixedWord(u.value.Text+".out.*"), u.at, false, true)
			r.spell(u.at)
		default:
			r.alarm(u.at, "is a tool that is not known")
			r.opaque("it runs the tool " + u.value.Text)
		}
	}
}

// readSudo knows the flags that need no command, and those that start a shell.
func readSudo(r *reader) {
	for _, name := range []string{"-l", "-v"} { // -v shares its line with -k, -V and so on
		if r.used(name) != nil && len(r.operands) == 0 {
			r.quits = true
		}
	}
	if (r.used("-s") != nil || r.used("-i") != nil) && len(r.operands) == 0 {
		r.quits = true
		r.out.Stdin = true
		r.open("starts a shell")
	}
}

// finishSu knows that su without a command starts a shell.
func finishSu(r *reader) {
	if r.used("-c") == nil && r.used("--session-command") == nil && len(r.out.Runs) == 0 && !r.quits {
		r.out.Stdin = true
		r.opaque("starts a shell")
	}
}

// readFlock knows a descriptor instead of a file.
func readFlock(r *reader) {
	if len(r.operands) == 1 && strings.Trim(r.args[r.operands[0]].Text, "0123456789") == "" {
		r.operands = nil
		r.quits = true
	}
}

// finishFlock knows the command for a shell that stands behind the file.
func finishFlock(r *reader) {
	if len(r.out.Runs) == 0 {
		return
	}
	if words := r.out.Runs[0].Words; len(words) > 1 && words[0].Known &&
		(words[0].Text == "-c" || words[0].Text == "--command") {
		r.out.Runs[0] = Run{IsScript: true, Script: words[1], Dir: r.out.Dir}
	}
}

// finishScript knows that script without a command starts a shell.
func finishScript(r *reader) {
	if len(r.out.Runs) == 0 && !r.quits {
		r.out.Stdin = true
		r.opaque("starts a shell")
	}
}

// readStrace knows the variables that strace sets, and the expressions that
// change what the program is answered.
func readStrace(r *reader) {
	for i := range r.uses {
		u := &r.uses[i]
		switch {
		case u.flag.names[0] == "-p":
			r.quits = true
		case strings.Contains(u.value.Text, "inject") || strings.Contains(u.value.Text, "fault"):
			r.spell(u.at)
			r.open("changes what the program is answered")
		}
	}
}

// finishStrace sets the variables of -E.
func finishStrace(r *reader) {
	if len(r.out.Runs) == 0 {
		return
	}
	for i := range r.uses {
		if a, ok := assignment(r.uses[i].value); ok && r.uses[i].flag.names[0] == "-E" {
			r.out.Runs[0].Env = append(r.out.Runs[0].Env, a)
		}
	}
}

// readSysctl knows that name=value sets it.
func readSysctl(r *reader) {
	for _, at := range r.operands {
		w := r.args[at]
		if w.Known && strings.Contains(w.Text, "/") { // names are paths below this folder
			r.file(Read, Literal("/proc/sys/"+w.Text), at, false, false)
		}
		if !w.Known || strings.Contains(w.Text, "=") {
			r.spell(at)
			r.open("changes a setting of the kernel")
		}
	}
}
