package hook

import (
	"path"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
)

// ownSettings are the files in which an agent's hooks and permissions stand, by the folder
// that has them, wherever that lies: a project, a home. "" is the folder itself, and
// everything in it.
var ownSettings = map[string][]string{
	".claude": {"settings.json", "settings.local.json", "managed-settings.json", "hooks"},
	".codex":  {""},
	".gemini": {"settings.json", "policies"},
	".cursor": {"hooks.json", "hooks"},
}

// guard has a person asked about every change to an agent's own settings: whoever may
// change them can take the hook out, and us with it. No rule, grant or mode answers that.
func guard(acts []approval.Act) []approval.Act {
	var out []approval.Act
	for i, a := range acts {
		if a.Verdict == approval.Block || !changes(a) || !slices.ContainsFunc(slices.Concat(a.Target.Written, a.Target.Resolved), isOwnSettings) {
			continue
		}
		if out == nil {
			out = slices.Clone(acts)
		}
		out[i].Verdict, out[i].PersonOnly = approval.Ask, true
		out[i].Why = "an agent's own settings say which hooks are asked; only a person may have them changed"
	}
	if out == nil {
		return acts
	}
	return out
}

func changes(a approval.Act) bool {
	return a.Target.Kind == approval.Path && (a.Name == approval.WriteFile || a.Name == approval.DeleteFile)
}

// isOwnSettings reports whether a path is one of the settings, below one, or a folder that
// has them. Case does not count: not every file system tells it apart.
func isOwnSettings(name string) bool {
	elements := strings.Split(strings.ToLower(path.Clean(name)), "/")
	for i, e := range elements {
		names, known := ownSettings[e]
		if !known {
			continue
		}
		if i == len(elements)-1 || slices.Contains(names, "") || slices.Contains(names, elements[i+1]) {
			return true
		}
	}
	return false
}
