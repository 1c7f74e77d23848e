package programs

import "strings"

// gitRefs tells listing branches and tags from changing them.
func gitRefs(r *reader) {
	switch r.out.Sub[0] {
	case "branch":
		lists := r.usesAny("--list", "--contains")
		if r.usesAny("--delete", "-D", "--move", "-M", "--copy", "-C", "--force", "--unset-upstream", "--set-upstream-to") || len(r.operands) > 0 && !lists {
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
	creates := r.usesAny("-b", "--create") || r.usesAny("--orphan") && r.out.Sub[0] == "checkout" // switch --orphan empties the folder
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
