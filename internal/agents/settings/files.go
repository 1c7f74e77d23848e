package settings

import (
	"path/filepath"
	"strings"
)

// A File is one that an agent reads settings from.
type File struct {
	Scope Scope
	Path  string
}

// Files are the files that the agent may read settings from in these surroundings, whether or
// not they are there. For Codex these are the files with its configuration, not the hooks.
// Of Gemini CLI's, a later one overrules an earlier one.
func (t Target) Files(s Surroundings) (out []File) {
	add := func(scope Scope, paths ...string) {
		for _, p := range paths {
			out = append(out, File{scope, p})
		}
	}
	user := t.UserPath(s)
	projects := func(names ...string) {
		for _, name := range names {
			for _, p := range s.Projects() {
				if path := filepath.Join(p, t.Folder, name); path != user {
					add(Project, path)
				}
			}
		}
	}
	switch t.Agent.Name {
	case "claude-code":
		folder := "/etc/claude-code"
		if s.OS == "darwin" {
			folder = "/Library/Application Support/ClaudeCode"
		}
		add(Managed, filepath.Join(folder, "managed-settings.json"))
		for _, name := range s.List(filepath.Join(folder, "managed-settings.d")) {
			if strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") {
				add(Managed, filepath.Join(folder, "managed-settings.d", name))
			}
		}
		add(User, user)
		projects("settings.json", "settings.local.json")
	case "codex":
		user = filepath.Join(t.UserFolder(s), "config.toml")
		add(Managed, "/etc/codex/config.toml")
		add(User, user)
		projects("config.toml")
		add(Managed, "/etc/codex/managed_config.toml", "/etc/codex/requirements.toml")
	case "gemini":
		system := GeminiSystem(s)
		defaults := filepath.Join(filepath.Dir(system), "system-defaults.json")
		if v := s.value("GEMINI_CLI_SYSTEM_DEFAULTS_PATH"); v != "" {
			defaults = v
		}
		add(Managed, defaults)
		add(User, user)
		projects(t.File)
		add(Managed, system)
	}
	return out
}

// GeminiSystem is the administrator's settings of Gemini CLI. Policies lie beside them, unless
// the variable moved them.
func GeminiSystem(s Surroundings) string {
	if v := s.value("GEMINI_CLI_SYSTEM_SETTINGS_PATH"); v != "" {
		return v
	}
	return filepath.Join(GeminiFolder(s), "settings.json")
}

// GeminiFolder is the folder of the administrator's files for Gemini CLI.
func GeminiFolder(s Surroundings) string {
	if s.OS == "darwin" {
		return "/Library/Application Support/GeminiCli"
	}
	return "/etc/gemini-cli"
}

// Decode reads settings in JSON, which may have comments and trailing commas.
func Decode(text []byte) (map[string]any, error) {
	top, err := parse(text)
	if err != nil {
		return nil, err
	}
	out, _ := layer{text: text}.decoded(&top).(map[string]any)
	return out, nil
}

// Keys are the names in the object at the end of some keys, in the order in which they are written.
func Keys(text []byte, keys ...string) (out []string) {
	top, err := parse(text)
	if err != nil {
		return nil
	}
	if n := top.at(keys...); n != nil {
		for _, m := range n.members {
			out = append(out, m.key)
		}
	}
	return out
}
