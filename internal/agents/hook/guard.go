package hook

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox"
)

// ownSettings are the files in which an agent's hooks, permissions and programs stand, by the
// folder that has them, wherever that lies: a project, a home. "" is the folder itself, and
// everything in it. Agents, commands and skills of Claude Code may name hooks and tools that are
// free.
var ownSettings = map[string][]string{
	".claude": {"settings.json", "settings.local.json", "managed-settings.json", "hooks", "agents", "commands",
		"skills", "plugins"},
	".codex":    {""},
	".gemini":   {"settings.json", "policies", "hooks", "commands", "extensions", "agents", "skills", ".env"},
	".cursor":   {"hooks.json", "hooks", "mcp.json", "cli.json"},
	".mcp.json": {""},
}

// guard has a person asked about every change to an agent's own settings: whoever may
// change them can take the hook out, and us with it. No rule, grant or mode answers that.
func guard(acts []policy.Act) []policy.Act {
	var out []policy.Act
	for i, a := range acts {
		files := slices.Concat(a.Target.Written, a.Target.Resolved)
		if a.Verdict == policy.VerdictBlock || !changes(a) || !slices.ContainsFunc(files, isOwnSettings) {
			continue
		}
		if out == nil {
			out = slices.Clone(acts)
		}
		out[i].Verdict, out[i].PersonOnly = policy.VerdictAsk, true
		out[i].Why = "an agent's own settings say which hooks are asked; only a person may have them changed"
	}
	if out == nil {
		return acts
	}
	return out
}

func changes(a policy.Act) bool {
	return a.Target.Kind == policy.KindPath && (a.Name == policy.ActWriteFile || a.Name == policy.ActDeleteFile)
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

// SettingNames are the settings by their names, for tools that change none of them wherever they
// lie.
func SettingNames() (out []string) {
	for folder, names := range ownSettings {
		out = append(out, folder) // to replace it is to replace them
		for _, name := range names {
			out = append(out, path.Join(folder, name)+"/") // and what is below
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// How far a project is searched for folders with settings when a keeper starts, and how many of
// them are protected: each is a mount.
const (
	settingsDepth   = 6
	settingsFolders = 20_000
	settingsMost    = 200
)

// worktrees is where Claude Code puts working trees, in which commands work.
const worktrees = "worktrees"

// Settings are the folders in a project in which agents keep hooks and permissions, for the sandbox
// to protect from commands. At the top, those of the agent itself and of agents that the user has
// count also if they are not there: an empty folder stands in for them while a command runs. What
// a program makes further below is not held. The error says why a command could take the
// protection away.
func Settings(agent, project, home string) ([]sandbox.Entry, error) {
	own := map[string]string{"claude-code": ".claude", "codex": ".codex", "gemini": ".gemini",
		"cursor": ".cursor"}[agent]
	var out []sandbox.Entry
	for folder, names := range ownSettings {
		top := filepath.Join(project, folder)
		info, err := os.Lstat(top)
		switch {
		case err == nil && info.Mode().Type() == os.ModeSymlink:
			return nil, fmt.Errorf("%s is a symbolic link, which a command could replace by settings of its own; "+
				"put the folder itself there", top)
		case err == nil:
			out = append(out, settingsIn(top, names)...)
		case slices.Contains(names, "") && folder == ".mcp.json": // a file in its place would be seen by git
		case folder == own || exists(filepath.Join(home, folder)):
			out = append(out, settingsEntry(top))
		}
	}
	slices.SortFunc(out, func(a, b sandbox.Entry) int { return strings.Compare(a.Path, b.Path) })
	return append(out, settingsBelow(project)...), nil
}

func settingsEntry(name string) sandbox.Entry {
	return sandbox.Entry{Path: name, Source: "an agent's settings"}
}

func exists(name string) bool { _, err := os.Lstat(name); return err == nil }

// settingsIn is what to protect of a folder with settings: all of it, so that no file has to stand
// in for one that is missing, which git would see and commit. Commands work in working trees, so
// with those it is one by one.
func settingsIn(folder string, names []string) (out []sandbox.Entry) {
	if !exists(filepath.Join(folder, worktrees)) {
		return append(out, settingsEntry(folder))
	}
	for _, name := range names {
		out = append(out, settingsEntry(filepath.Join(folder, name)))
	}
	return out
}

// settingsBelow finds the folders with settings further down.
func settingsBelow(project string) (out []sandbox.Entry) {
	left := settingsFolders
	var search func(dir string, depth int)
	search = func(dir string, depth int) {
		if left--; left < 0 || depth == 0 || len(out) >= settingsMost {
			return
		}
		entries, _ := os.ReadDir(dir) // what cannot be read cannot be changed either
		for _, e := range entries {
			names, known := ownSettings[e.Name()]
			inside := filepath.Join(dir, e.Name())
			switch {
			case e.Type() == os.ModeSymlink:
			case known && dir != project:
				out = append(out, settingsIn(inside, names)...)
			case e.IsDir() && e.Name() != ".git" && e.Name() != "node_modules":
				search(inside, depth-1)
			}
		}
	}
	search(project, settingsDepth)
	return out
}
