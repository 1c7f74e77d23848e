package hook

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/sandbox"
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

// Settings are the files in a project in which agents keep hooks and permissions, for the sandbox
// to protect from commands. Those of other agents count only where they have a folder: a
// protected file that is not there is stood in for while a command runs.
func Settings(agent, project string) []sandbox.Entry {
	own := map[string]string{"claude-code": ".claude", "codex": ".codex", "gemini": ".gemini", "cursor": ".cursor"}[agent]
	var out []sandbox.Entry
	for folder, names := range ownSettings {
		top := filepath.Join(project, folder)
		info, err := os.Lstat(top)
		switch {
		case err == nil && info.IsDir() && !slices.Contains(names, ""):
			for _, name := range names {
				out = append(out, sandbox.Entry{Path: filepath.Join(top, name), Source: "an agent's settings"})
			}
		case err == nil || folder == own:
			out = append(out, sandbox.Entry{Path: top, Source: "an agent's settings"})
		}
	}
	slices.SortFunc(out, func(a, b sandbox.Entry) int { return strings.Compare(a.Path, b.Path) })
	return out
}
