package programs

import "slices"

// gitWriters are the subcommands of git that write to the repository's own folder.
var gitWriters = []string{
	"add", "am", "bisect", "branch", "checkout", "cherry-pick", "clean", "commit", "fetch", "gc", "init", "maintenance", "merge",
	"mv", "notes", "pull", "push", "rebase", "reset", "restore", "revert", "rm", "stash", "submodule", "switch", "tag",
	"update-index", "update-ref", "worktree",
}

// GitWrites reports whether a subcommand of git writes to .git.
func GitWrites(sub string) bool { return slices.Contains(gitWriters, sub) }
