package programs

import (
	"path"
	"strings"
)

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
		"core.safecrlf", "core.abbrev", "core.symlinks", "core.precomposeunicode", "core.whitespace",
		"core.commentchar", "core.preloadindex", "core.untrackedcache", "core.compression", "core.bigfilethreshold",
		"init.defaultbranch", "pull.rebase", "pull.ff", "push.default", "push.autosetupremote", "push.followtags",
		"fetch.prune", "fetch.parallel", "rebase.autostash", "rebase.autosquash", "rebase.updaterefs",
		"rerere.enabled", "merge.conflictstyle", "merge.ff", "merge.renamelimit", "diff.renames", "diff.renamelimit",
		"diff.algorithm", "diff.colormoved", "diff.noprefix", "diff.mnemonicprefix", "diff.context", "diff.submodule",
		"diff.wserrorhighlight", "log.date", "log.decorate", "log.abbrevcommit", "log.follow", "commit.verbose",
		"commit.cleanup", "branch.sort", "branch.autosetupmerge", "branch.autosetuprebase", "tag.sort",
		"versionsort.suffix",
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

// gitRefs tells listing branches and tags from changing them.
func gitRefs(r *reader) {
	switch r.out.Sub[0] {
	case "branch":
		lists := r.usesAny("--list", "--contains")
		changes := strings.Fields("--delete -D --move -M --copy -C --force --unset-upstream --set-upstream-to")
		if r.usesAny(changes...) || len(r.operands) > 0 && !lists {
			r.open("changes the branches of the repository")
		}
	case "tag":
		lists := r.usesAny("--list", "-n", "--contains")
		if r.usesAny("--delete", "--force", "--annotate") || len(r.operands) > 0 && !lists {
			r.open("changes the tags of the repository")
		}
	case "symbolic-ref":
		if len(r.operands) > 1 {
			r.open("changes a ref of the repository")
		}
	}
}

// gitCheckout says what checkout and switch write: the files behind --, or
// whatever differs between two commits.
func gitCheckout(r *reader) {
	dashes := r.dashes()
	paths := 0
	for _, at := range r.operands {
		r.plain(at)
		if path, any := gitPathspec(r.args[at]); at > dashes && any {
			r.file(Write, path, at, true, false)
			paths++
		}
	}
	orphan := r.usesAny("--orphan") && r.out.Sub[0] == "checkout" // switch --orphan empties the folder
	creates := r.usesAny("-b", "--create") || orphan
	if paths > 0 || creates && len(r.operands) == 0 {
		return
	}
	r.file(Write, Literal("."), -1, true, false)
}

// gitStash says what `git stash` without a subcommand does.
func gitStash(r *reader) {
	if len(r.out.Sub) > 1 {
		return
	}
	r.open("changes the working tree and the stash")
	r.file(Write, Literal("."), -1, true, false)
}

// gitConfig tells asking for settings from changing them.
func gitConfig(r *reader) {
	key, value, writes := r.gitConfigChange()
	if !writes {
		return
	}
	r.open("changes the configuration of git")
	if u := r.used("--file"); u != nil && u.given {
		r.file(Write, u.value, u.at, false, true)
		r.spell(u.at)
	}
	if key < 0 {
		r.spell(r.subAt)
		return
	}
	if w := r.args[key]; !w.Known || !harmlessGitSetting(strings.ToLower(w.Text), value) {
		r.spell(key)
	}
}

// gitConfigChange finds the key and value that git config would write.
func (r *reader) gitConfigChange() (key int, value string, writes bool) {
	operands := r.operands
	changes := false
	if len(operands) > 0 {
		switch r.args[operands[0]].Text {
		case "get", "list":
			return -1, "", false
		case "set", "unset", "rename-section", "remove-section", "edit":
			operands, changes = operands[1:], true
		}
	}
	changes = changes || r.usesAny("--add", "--edit")
	if r.usesAny("--get") && !changes {
		return -1, "", false
	}
	if !changes && len(operands) < 2 {
		return -1, "", false
	}
	if len(operands) == 0 {
		return -1, "", true
	}
	if len(operands) > 1 && r.args[operands[1]].Known {
		value = r.args[operands[1]].Text
	}
	return operands[0], value, true
}

// gitRemote says whom fetch, pull, push and ls-remote talk to. The name of a
// remote stands for whatever host the configuration has.
func gitRemote(r *reader) {
	for _, at := range r.operands {
		r.plain(at)
	}
	if len(r.operands) == 0 {
		r.connects(somewhere("*"), -1, false)
		return
	}
	at := r.operands[0]
	kind := Read
	if r.out.Sub[0] == "push" {
		kind = Write
	}
	r.gitRepository(r.args[at], at, kind)
}

// gitRepository says what using a repository means: a host, a folder, or a
// program that fetches it.
func (r *reader) gitRepository(w Word, at int, kind Kind) {
	text := w.Text
	if !w.Known {
		text = w.Begin
	}
	helper, address, isHelper := strings.Cut(text, "::")
	colon, slash := strings.IndexByte(text, ':'), strings.IndexByte(text, '/')
	switch {
	case isHelper && !strings.ContainsAny(helper, "/:@"):
		r.alarm(at, "is fetched by a program")
		if helper == "ext" {
			r.runs(Run{IsScript: true, Script: Word{Text: address, Known: w.Known}})
		}
		r.connects(somewhere(text), at, false)
	case strings.HasPrefix(text, "file://"):
		r.file(kind, cutPrefix(w, "file://"), at, true, false)
	case strings.Contains(text, "://"):
		r.connects(w, at, false)
	case strings.HasPrefix(text, "/"), strings.HasPrefix(text, "./"), strings.HasPrefix(text, "../"),
		text == ".", text == "..":
		r.file(kind, w, at, true, false)
	case colon > 0 && (slash < 0 || colon < slash):
		r.connects(Literal("ssh://"+text[:colon]), at, false)
	default:
		r.connects(somewhere(w.Text), at, false)
	}
}

// cutPrefix returns the word without what it is known to begin with.
func cutPrefix(w Word, prefix string) Word {
	if w.Known {
		return Literal(strings.TrimPrefix(w.Text, prefix))
	}
	return cutBegin(w, len(prefix))
}

// gitClone says where a clone comes from, and which folder it makes.
func gitClone(r *reader) {
	if len(r.operands) == 0 {
		if !r.quits {
			r.doubt("git clone wants a repository")
		}
		return
	}
	from := r.operands[0]
	r.plain(from)
	r.gitRepository(r.args[from], from, Read)
	switch len(r.operands) {
	case 1:
		r.file(Write, gitCloneFolder(r.args[from]), -1, true, false)
	case 2:
		r.plain(r.operands[1])
		r.file(Write, r.args[r.operands[1]], r.operands[1], true, false)
	default:
		r.tooMany(r.operands[2])
	}
}

// gitCloneFolder is the folder that git names after the repository.
func gitCloneFolder(w Word) Word {
	if !w.Known {
		return somewhere("*")
	}
	text := strings.TrimSuffix(strings.TrimRight(w.Text, "/"), "/.git")
	name := strings.TrimSuffix(path.Base(text), ".git")
	if at := strings.LastIndexByte(name, ':'); at >= 0 {
		name = name[at+1:]
	}
	return Literal(name)
}
