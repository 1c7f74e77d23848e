package programs

import "strings"

// makeOperands tells goals from variables. A variable that is set from outside
// may end in any command of the makefile.
func makeOperands(r *reader) {
	for _, at := range r.operands {
		w := r.args[at]
		text := w.Text
		if !w.Known {
			text = w.Begin
		}
		name, value, isVariable := strings.Cut(text, "=")
		if !isVariable {
			r.plain(at)
			continue
		}
		r.alarm(at, "sets a variable of the makefile")
		switch name = strings.TrimSpace(name); {
		case strings.HasSuffix(name, "!"), strings.TrimRight(name, ":?+") == "SHELL":
			r.runs(Run{IsScript: true, Script: Word{Text: value, Known: w.Known}})
		}
	}
}

// pytestOperands notes the files of FILE::TEST.
func pytestOperands(r *reader) {
	for _, at := range r.operands {
		r.plain(at)
		w := r.args[at]
		if file, _, ok := strings.Cut(w.Text, "::"); ok && w.Known {
			w = Literal(file)
		}
		r.file(Read, w, at, true, false)
	}
}

// ipOperands tells showing from changing, and finds `ip netns exec NAME COMMAND`.
func ipOperands(r *reader) {
	for k, at := range r.operands {
		w := r.args[at]
		r.plain(at)
		if !w.Known {
			r.doubt(w.Text + " may turn out to be a verb of ip")
			return
		}
		switch w.Text {
		case "exec":
			r.alarm(at, "runs a command")
			if k+2 < len(r.operands) {
				r.runs(Run{Words: r.args[r.operands[k+2]:]})
			}
			return
		case "add", "a", "del", "delete", "set", "change", "replace", "flush", "append", "prepend", "restore", "attach", "up", "down":
			if k > 0 {
				r.alarm(at, "changes the network of the machine")
			}
		}
	}
}

// severalOperands is for programs that show with one operand and change with more.
func severalOperands(r *reader) {
	if len(r.operands) > 1 {
		r.alarm(r.operands[1], "changes the network of the machine")
	}
}

// serviceAction tells `service NAME status` from what changes a service.
func serviceAction(r *reader) {
	if len(r.operands) > 0 {
		// The script of a service lies in a folder that its name may leave.
		if at := r.operands[0]; !r.args[at].Known || strings.Contains(r.args[at].Text, "/") {
			r.alarm(at, "is run by its path")
			r.opaque("it runs " + r.args[at].Text)
		}
	}
	if len(r.operands) < 2 {
		return
	}
	if at := r.operands[1]; r.args[at].Text != "status" {
		r.alarm(at, "changes a service of the machine")
	}
}

// dockerRun puts the program of --entrypoint before the words that are handed to it.
func dockerRun(r *reader) {
	u := r.used("--entrypoint")
	if u == nil || !u.given || len(r.operands) == 0 {
		return
	}
	words := append([]Word{u.value}, r.args[r.operands[0]+1:]...)
	r.out.Runs = nil
	r.runs(Run{Words: words})
}

// dockerMounts notes the files of this machine that a container is given.
func dockerMounts(r *reader) {
	for i := range r.uses {
		u := &r.uses[i]
		if u.flag.names[0] != "-v" || !u.given || strings.HasPrefix(r.args[u.at].Text, "--volumes-from") {
			continue
		}
		host, any := dockerSource(u.value)
		if !any {
			continue
		}
		r.file(Read, host, u.at, true, true)
		r.file(Write, host, u.at, true, true)
	}
}

// dockerSource returns the path on this machine of HOST:CONTAINER, or of a
// --mount with type=bind. A name without a slash is a volume of docker's.
func dockerSource(w Word) (Word, bool) {
	text := w.Text
	if !w.Known {
		text = w.Begin
	}
	for field := range strings.SplitSeq(text, ",") {
		for _, key := range []string{"source=", "src="} {
			if path, ok := strings.CutPrefix(field, key); ok {
				return Word{Text: path, Known: w.Known}, strings.Contains(path, "/") || !w.Known
			}
		}
	}
	host, _, ok := strings.Cut(text, ":")
	if !ok && !w.Known {
		return w, true
	}
	return Literal(host), ok && strings.ContainsAny(host, "/.~")
}
