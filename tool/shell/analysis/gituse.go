package analysis

import (
	"strings"

	"github.com/assent-dev/assent/tool/shell/programs"
)

// A gitLine is a command line of git, taken apart.
type gitLine struct {
	sub       string // the subcommand, or an alias
	at        int    // its index
	args      []programs.Word
	settings  []Setting // given by -c
	elsewhere bool      // --git-dir names another repository
	paged     bool
}

// splitGit finds the subcommand behind the global options.
func splitGit(words []programs.Word) (line gitLine) {
	for i := 1; i < len(words); i++ {
		text := words[i].Text
		switch {
		case text == "-c" || text == "--config-env":
			if i++; i < len(words) {
				key, value, _ := strings.Cut(words[i].Text, "=")
				if value == "" {
					value = "true"
				}
				line.settings = append(line.settings, Setting{Key: lowerKey(key), Value: value, Repository: true})
			}
		case text == "-C" || text == "--work-tree" || text == "--attr-source" || text == "--namespace" ||
			text == "--super-prefix":
			i++
		case text == "--git-dir":
			i++
			line.elsewhere = true
		case strings.HasPrefix(text, "--git-dir="), text == "--bare", !words[i].Known:
			line.elsewhere = true
		case text == "-p" || text == "--paginate":
			line.paged = true
		case strings.HasPrefix(text, "-"):
		default:
			line.sub, line.at, line.args = text, i, words[i+1:]
			return line
		}
	}
	return line
}

// lowerKey writes a key as git compares them: all but the middle part without case.
func lowerKey(key string) string {
	first, last := strings.Index(key, "."), strings.LastIndex(key, ".")
	if first < 0 {
		return strings.ToLower(key)
	}
	return strings.ToLower(key[:first]) + key[first:last] + strings.ToLower(key[last:])
}

// A gitUse is what a subcommand does that settings may hand to programs.
type gitUse struct {
	index, diffs, signs, edits, remote, checkout, hooks bool
	objects                                             bool // reads objects, and fetches those that a partial clone left out
	nested                                              bool // looks into submodules, where their settings hold
	merges                                              bool // merges, if only to show what came of it
	alternates                                          bool // lists the refs of the repositories that it borrows objects from
	reads                                               bool // reads the index, if only for attributes
	hardened                                            bool // runs in the hardened way if it is free
}

// plain is what a subcommand does that is not hardened: it fetches objects that are missing,
// reads the index for attributes, and looks into submodules.
func (u gitUse) plain(line gitLine) gitUse {
	if u.hardened {
		u.objects, u.reads, u.nested = true, true, u.index || line.looksInside()
	}
	return u
}

// gitUseOf tells what a subcommand does. One that is not known may do everything. Four
// run in the hardened way if they are free, see the package shim: they fetch no objects,
// and pass by submodules.
func gitUseOf(line gitLine) gitUse {
	signs := line.has("--show-signature", "-S", "--gpg-sign", "-s", "--sign", "-v", "--verify", "-u") ||
		line.contains("%G")
	merges := line.has("--remerge-diff", "--diff-merges") || line.contains("--remerge")
	use := gitUseOfSub(line, signs, merges)
	use.alternates = use.remote || line.contains("--alternate") || line.has("--alternate-refs")
	return use
}

func gitUseOfSub(line gitLine, signs, merges bool) gitUse {
	switch line.sub {
	case "log", "show":
		return gitUse{diffs: true, signs: signs, merges: merges, hardened: true}
	case "status", "diff":
		return gitUse{index: true, diffs: true, merges: merges, hardened: true}
	case "", "help", "version", "config", "var", "symbolic-ref", "count-objects":
		return gitUse{}
	case "check-ignore", "check-attr":
		return gitUse{index: true}
	case "rev-parse", "rev-list", "cat-file", "ls-tree", "ls-remote", "merge-base", "for-each-ref", "show-ref",
		"name-rev", "hash-object":
		cat := line.sub == "cat-file"
		return gitUse{objects: true, remote: line.sub == "ls-remote", diffs: cat, checkout: cat,
			index: line.sub == "hash-object" || cat || line.contains(":"), // :FILE is in the index
			signs: signs || line.contains("signature")}
	case "whatchanged", "blame", "annotate", "shortlog", "reflog", "format-patch", "grep", "range-diff",
		"describe", "ls-files",
		"diff-files", "diff-index", "diff-tree", "update-index":
		return gitUse{index: true, diffs: true, signs: true, objects: true, merges: true, nested: line.looksInside(),
			hooks: line.sub == "update-index"}
	case "fetch", "remote", "bundle":
		return gitUse{remote: true, hooks: true, objects: true, nested: true}
	case "push", "send-pack":
		return gitUse{remote: true, hooks: true, signs: signs, objects: true, nested: true}
	case "branch", "worktree", "notes", "gc", "prune", "update-ref", "replace", "pack-refs", "repack", "maintenance":
		return gitUse{hooks: true, edits: true, checkout: line.sub == "worktree", signs: signs, objects: true}
	case "tag", "verify-tag", "verify-commit":
		return gitUse{signs: true, edits: true, hooks: true, objects: true}
	case "add", "rm", "mv", "stage":
		return gitUse{index: true, hooks: true, diffs: true, edits: true, checkout: true, objects: true, nested: true}
	}
	return gitUse{index: true, diffs: true, signs: true, edits: true, remote: true, checkout: true, hooks: true,
		objects: true, nested: true, merges: true}
}

// looksInside reports whether a subcommand that reads asks submodules for their state.
func (l gitLine) looksInside() bool {
	switch l.sub {
	case "describe":
		return l.has("--dirty", "--broken")
	case "diff-files", "diff-index", "update-index":
		return true
	}
	return l.has("--recurse-submodules", "--submodule", "--ignore-submodules") || l.contains("--recurse") ||
		l.contains("--submod")
}

// with adds what settings make a subcommand do.
func (u gitUse) with(settings []Setting) gitUse {
	for _, s := range settings {
		section, _, _ := strings.Cut(s.Key, ".")
		switch {
		case s.Key == "format.pretty" || section == "pretty":
			u.signs = u.signs || u.diffs && strings.Contains(s.Value, "%G")
		case s.Key == "log.diffmerges":
			u.merges = u.merges || u.diffs
		case s.Key == "submodule.recurse" || s.Key == "diff.submodule" || s.Key == "diff.ignoresubmodules":
			u.nested = u.nested || (u.index || u.hardened) && u.objects
		}
	}
	return u
}

// has reports whether one of the flags is among the arguments.
func (l gitLine) has(flags ...string) bool {
	for _, arg := range l.args {
		for _, flag := range flags {
			if arg.Text == flag || strings.HasPrefix(arg.Text, flag+"=") || !arg.Known {
				return true
			}
		}
	}
	return false
}

func (l gitLine) contains(text string) bool {
	for _, arg := range l.args {
		if strings.Contains(arg.Text, text) {
			return true
		}
	}
	return false
}

// runs reports whether git would run what a setting says.
func (u gitUse) runs(s Setting, line gitLine) bool {
	section, rest, _ := strings.Cut(s.Key, ".")
	name := rest[strings.LastIndex(rest, ".")+1:]
	switch section {
	case "core":
		return u.runsCore(s, name, line)
	case "filter":
		return name == "clean" && u.index || name == "process" && (u.index || u.checkout) ||
			name == "smudge" && u.checkout
	case "diff":
		return u.diffs && (s.Key == "diff.external" || name == "command" || name == "textconv")
	case "difftool", "mergetool":
		return (name == "cmd" || name == "path") && (line.sub == section || u.edits && u.remote)
	case "browser", "man":
		return (name == "cmd" || name == "path") && (line.sub == "help" || u.edits && u.remote || line.has("--help", "-h"))
	case "merge":
		return name == "driver" && (u.checkout || u.merges)
	case "tar":
		return name == "command" && (line.sub == "archive" || line.sub == "upload-archive" || u.edits && u.remote)
	case "extensions":
		return name == "partialclone" && u.objects
	case "interactive":
		return name == "difffilter" && u.diffs
	case "pager":
		return line.paged || name == line.sub
	case "gpg":
		return (name == "program" || name == "defaultkeycommand") && u.signs
	case "log":
		return name == "showsignature" && isTrue(s.Value) && u.diffs
	case "commit", "tag", "push":
		return name == "gpgsign" && isTrue(s.Value) && u.hooks
	case "sequence":
		return name == "editor" && u.edits
	case "credential":
		return name == "helper" && u.remote
	case "remote":
		return (name == "uploadpack" || name == "receivepack" || name == "vcs") && u.remote ||
			name == "promisor" && isTrue(s.Value) && u.objects
	case "url":
		return u.remote && strings.Contains(rest, "::")
	case "submodule":
		return name == "update" && strings.HasPrefix(s.Value, "!") && u.checkout
	case "uploadpack":
		return name == "packobjectshook" && u.remote
	case "gc", "maintenance", "trailer":
		return (name == "recentobjectshook" || name == "cmd" || name == "command") && u.hooks
	case "sendemail":
		return line.sub == "send-email"
	}
	return false
}

func (u gitUse) runsCore(s Setting, name string, line gitLine) bool {
	switch name {
	case "fsmonitor":
		return (u.index || u.reads) && !isBool(s.Value)
	case "pager":
		return true
	case "editor":
		return u.edits
	case "sshcommand", "gitproxy", "askpass":
		return u.remote
	case "alternaterefscommand":
		return u.alternates
	case "hookspath":
		return u.hooks
	}
	return false
}

func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

func isBool(value string) bool {
	switch strings.ToLower(value) {
	case "false", "no", "off", "0", "":
		return true
	}
	return isTrue(value)
}
