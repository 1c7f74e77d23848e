package programs

import "strings"

// scanGit reads the words of a git command, and then what -c makes of them: a
// setting may be a program that git starts, or an alias that is the subcommand.
func scanGit(r *reader) {
	r.scan()
	for i := range r.uses {
		if u := &r.uses[i]; u.flag.names[0] == "-c" && u.given && u.at < r.firstSub() {
			r.gitSetting(u)
		}
	}
	// Directly behind the subcommand --help is not a flag of it but `git help`.
	if at := r.firstSub() + 1; r.depth > 0 && at < len(r.args) && r.args[at].Text == "--help" {
		r.alarm(at, "opens the manual with a program of the configuration")
	}
}

// firstSub is the index of the subcommand; behind it -c means something else.
func (r *reader) firstSub() int {
	switch {
	case r.depth > 0:
		return r.subAt - r.depth + 1
	case len(r.operands) > 0:
		return r.operands[0]
	}
	return len(r.args)
}

// gitSetting says what -c NAME=VALUE does.
func (r *reader) gitSetting(u *use) {
	if !u.value.Known {
		r.alarm(u.at, "changes a setting of git that is not known")
		return
	}
	key, value, hasValue := strings.Cut(u.value.Text, "=")
	key = strings.ToLower(key)
	if harmlessGitSetting(key, value) {
		return
	}
	r.alarm(u.at, "changes a setting of git that can run programs")
	switch name, isAlias := strings.CutPrefix(key, "alias."); {
	case !hasValue:
	case isAlias:
		r.gitAlias(name, value)
	case gitCommandSetting(key):
		r.runs(Run{IsScript: true, Script: Literal(strings.TrimPrefix(value, "!"))})
	}
}

// gitAlias says what an alias runs: a shell command, or git once more.
func (r *reader) gitAlias(name, value string) {
	rest := r.args[min(r.firstSub()+1, len(r.args)):]
	if command, ok := strings.CutPrefix(value, "!"); ok {
		r.runs(Run{IsScript: true, Script: joined(append([]Word{Literal(command)}, rest...))})
		return
	}
	words := []Word{Literal("git")}
	for _, w := range strings.Fields(value) {
		words = append(words, Literal(strings.Trim(w, `'"`)))
	}
	at := r.firstSub()
	if at < len(r.args) && strings.EqualFold(r.args[at].Text, name) {
		words = append(words, rest...)
	}
	r.runs(Run{Words: words})
}

// harmlessGitSetting reports whether a setting changes only how git prints, or
// what it writes into commits. A key that is not listed may do anything.
func harmlessGitSetting(key, value string) bool {
	section, _, _ := strings.Cut(key, ".")
	switch section {
	case "advice", "color", "column", "i18n", "status", "gc", "pack", "index", "feature":
		return true
	}
	switch key {
	case "user.name", "user.email", "author.name", "author.email", "committer.name", "committer.email",
		"core.quotepath", "core.autocrlf", "core.filemode", "core.ignorecase", "core.longpaths", "core.eol",
		"core.safecrlf", "core.abbrev", "core.symlinks", "core.precomposeunicode", "core.whitespace", "core.commentchar",
		"core.preloadindex", "core.untrackedcache", "core.compression", "core.bigfilethreshold",
		"init.defaultbranch", "pull.rebase", "pull.ff", "push.default", "push.autosetupremote", "push.followtags",
		"fetch.prune", "fetch.parallel", "rebase.autostash", "rebase.autosquash", "rebase.updaterefs", "rerere.enabled",
		"merge.conflictstyle", "merge.ff", "merge.renamelimit", "diff.renames", "diff.renamelimit", "diff.algorithm",
		"diff.colormoved", "diff.noprefix", "diff.mnemonicprefix", "diff.context", "diff.submodule", "diff.wserrorhighlight",
		"log.date", "log.decorate", "log.abbrevcommit", "log.follow", "commit.verbose", "commit.cleanup",
		"branch.sort", "branch.autosetupmerge", "branch.autosetuprebase", "tag.sort", "versionsort.suffix",
		"grep.linenumber", "grep.patterntype", "blame.date", "http.postbuffer", "http.lowspeedlimit", "http.lowspeedtime":
		return true
	case "commit.gpgsign", "tag.gpgsign", "log.showsignature", "core.fsmonitor":
		return value == "false"
	case "core.pager", "pager.log", "pager.diff", "pager.show", "pager.branch":
		return value == "cat" || value == "" || value == "false"
	}
	return strings.HasPrefix(key, "branch.") && (strings.HasSuffix(key, ".remote") || strings.HasSuffix(key, ".merge"))
}

// gitCommandSetting reports whether the setting's value is a command.
func gitCommandSetting(key string) bool {
	switch key {
	case "core.fsmonitor", "core.pager", "core.editor", "core.sshcommand", "core.askpass", "core.gitproxy",
		"core.alternaterefscommand", "sequence.editor", "diff.external", "credential.helper",
		"interactive.difffilter", "uploadpack.packobjectshook":
		return true
	}
	if strings.HasPrefix(key, "pager.") {
		return true
	}
	last := key[strings.LastIndexByte(key, '.')+1:]
	switch last {
	case "program", "command", "cmd", "textconv", "clean", "smudge", "process", "driver", "helper",
		"uploadpack", "receivepack", "tocmd", "cccmd":
		return true
	}
	return false
}
