package programs

import (
	"cmp"
	"slices"
	"strings"
)

// devSpecial returns the functions for the tools of developers and operators.
func devSpecial(name string) (special, bool) {
	switch name {
	case "git":
		return special{scan: scanGit}, true
	case "gitRevisions":
		return special{before: gitFormats, operands: gitRevisions}, true
	case "gitGrep":
		return special{operands: gitGrep}, true
	case "gitRefs":
		return special{before: gitFormats, after: gitRefs}, true
	case "gitPaths":
		return special{after: gitPaths}, true
	case "gitCheckout":
		return special{operands: gitCheckout}, true
	case "gitStash":
		return special{after: gitStash}, true
	case "gitRemote":
		return special{operands: gitRemote}, true
	case "gitClone":
		return special{operands: gitClone}, true
	case "gitConfig":
		return special{after: gitConfig}, true
	case "goPackages":
		return special{after: goPackages}, true
	case "goList":
		return special{after: goList}, true
	case "gofmt":
		return special{after: gofmt}, true
	case "clangFormat":
		return special{after: clangFormatStyle}, true
	case "hyphenIsCode":
		return special{after: hyphenIsCode}, true
	case "codeOnStdin":
		return special{after: codeOnStdin}, true
	case "openssl":
		return special{after: openssl}, true
	case "rails":
		return special{after: railsConsole}, true
	case "make":
		return special{operands: makeOperands}, true
	case "pytest":
		return special{operands: pytestOperands}, true
	case "curl":
		return special{before: curlFlags, operands: curlOperands}, true
	case "wget":
		return special{after: wgetFiles}, true
	case "ssh":
		return special{scan: scanSSH, before: sshOptions, after: sshPort}, true
	case "scp":
		return special{before: sshOptions, after: sshPort}, true
	case "rsync":
		return special{after: finishRsync}, true
	case "socat":
		return special{operands: socatAddresses}, true
	case "netcat":
		return special{after: netcatPort}, true
	case "ip":
		return special{operands: ipOperands}, true
	case "ifconfig":
		return special{after: severalOperands}, true
	case "dockerRun":
		return special{before: dockerMounts, after: dockerRun}, true
	case "dockerMounts":
		return special{before: dockerMounts}, true
	case "copyOut":
		return special{operands: copyOut}, true
	case "urlFiles":
		return special{after: urlFiles}, true
	case "service":
		return special{after: serviceAction}, true
	case "ghApi":
		return special{before: ghFields}, true
	case "psql", "mysql", "sqlite":
		return special{after: sqlCommands}, true
	}
	return special{}, false
}

// clangFormatStyle notes the file that a style is taken from.
func clangFormatStyle(r *reader) {
	if u := r.used("-style"); u != nil && u.given {
		if file, ok := strings.CutPrefix(u.value.Text, "file:"); ok || !u.value.Known {
			r.file(Read, Word{Text: file, Known: u.value.Known}, u.at, false, false)
		}
	}
}

// codeOnStdin is for interpreters: without a script they read one from standard input.
func codeOnStdin(r *reader) {
	hyphenIsCode(r)
	if len(r.operands) == 0 && !r.quits {
		r.opaque("code on standard input cannot be read")
	}
}

// openssl without a subcommand reads commands, which can read and write any file.
func openssl(r *reader) {
	if r.depth == 0 {
		codeOnStdin(r)
	}
}

// railsConsole knows the subcommands that run code of the caller's.
func railsConsole(r *reader) {
	if len(r.operands) == 0 {
		return
	}
	switch r.args[r.operands[0]].Text {
	case "console", "c", "runner", "r", "dbconsole", "db":
		r.opaque("it runs code that it is handed")
	}
}

// hyphenIsCode knows that a hyphen instead of a script is code on standard input.
func hyphenIsCode(r *reader) {
	for i, w := range r.args {
		if w.Known && w.Text == "-" {
			r.spell(i)
			r.opaque("code on standard input cannot be read")
		}
	}
}

// alarm says that the argument does something which an allow must spell.
func (r *reader) alarm(at int, why string) {
	r.spell(at)
	r.open(why)
}

// usesAny reports whether one of the flags is used.
func (r *reader) usesAny(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return r.used(name) != nil })
}

// somewhere is a path or host that is not known.
func somewhere(text string) Word { return Word{Text: text} }

// goPackages notes the folders of packages that are named by a path: their code is
// compiled and, by go test, run.
func goPackages(r *reader) {
	for _, at := range r.operands {
		w := r.args[at]
		switch {
		case !w.Known:
			r.file(Read, w, at, true, false)
		case strings.HasPrefix(w.Text, "/") || strings.HasPrefix(w.Text, "."):
			folder := strings.TrimSuffix(strings.TrimSuffix(w.Text, "..."), "/")
			r.file(Read, Literal(cmp.Or(folder, "/")), at, false, false)
		}
	}
}

// goList knows that the versions of main packages come from git, which go asks: what a
// repository makes git run, it runs here too.
func goList(r *reader) {
	goPackages(r)
	if u := r.used("-m"); u == nil || strings.Contains(r.args[u.at].Text, "=") { // modules need no git
		r.runs(Run{Words: []Word{Literal("git"), Literal("status"), Literal("--porcelain")}})
		r.started++
	}
}

// gofmt takes from a folder only what ends in .go.
func gofmt(r *reader) {
	for i := range r.out.Effects {
		if r.out.Effects[i].Tree {
			r.out.Effects[i].Only = []string{"*.go"}
		}
	}
}

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
		case "add", "a", "del", "delete", "set", "change", "replace", "flush", "append", "prepend", "restore",
			"attach", "up", "down":
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
