package programs

import "strings"

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
	if words := r.out.Runs[0].Words; len(words) > 1 && words[0].Known && (words[0].Text == "-c" || words[0].Text == "--command") {
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
