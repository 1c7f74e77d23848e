package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/agents"
)

// A machine is what Surroundings read, in memory: files of the administrator are as easy to
// put there as the user's.
type machine struct {
	files map[string]string
	env   map[string]string
	links map[string]string
	loose map[string]bool // files that others than root can change
}

func (m machine) around() Surroundings {
	return Surroundings{
		Home: "/home/me", Folder: "/src/app/sub", OS: "linux",
		Env: func(name string) (string, bool) { v, ok := m.env[name]; return v, ok },
		Read: func(path string) ([]byte, error) {
			text, ok := m.files[path]
			if !ok {
				return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
			}
			return []byte(text), nil
		},
		List: func(folder string) (out []string) {
			for _, path := range slices.Sorted(maps.Keys(m.files)) {
				if filepath.Dir(path) == folder {
					out = append(out, filepath.Base(path))
				}
			}
			return out
		},
		Exists: func(path string) bool {
			for p := range m.files {
				if p == path || strings.HasPrefix(p, path+"/") {
					return true
				}
			}
			return false
		},
		Real: func(path string) string {
			if to := m.links[path]; to != "" {
				return to
			}
			return path
		},
		Rooted: func(path string) bool { return !m.loose[path] },
	}
}

// codexTrusted is what Codex 0.166.0 itself notes about the hooks of installed: its own list
// of hooks (hooks/list of its app server) gave these digests for this command.
const codexTrusted = `[hooks.state."/home/me/.codex/hooks.json:pre_tool_use:0:0"]
trusted_hash = "sha256:d57815c4ffd424100ce6d32fba9af090ff8eeef5eb2e35963c9925c8caa531d4"

[hooks.state."/home/me/.codex/hooks.json:permission_request:0:0"]
trusted_hash = "sha256:e5d0a30599ee69aff6ce958a7fc4d5d46f9e02470237d44a983307148ef3a8ee"
`

// installed is a machine on which an agent calls our hook, with other settings that are valid.
func installed(t *testing.T, name string) (machine, Target, string) {
	t.Helper()
	a, err := agents.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	target := TargetOf(a)
	before := map[string]string{
		"claude-code": `{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "model": "opus",
  "cleanupPeriodDays": 30,
  "env": {"A": "b"},
  "enabledPlugins": {"a@b": true, "c@d": ["x"]},
  "statusLine": {"type": "command", "command": "line", "padding": 0},
  "permissions": {"allow": ["Bash(ls:*)"], "defaultMode": "plan", "additionalDirectories": ["../x"]},
  "hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "x"}]}]},
  "sandbox": {"enabled": true, "filesystem": {"denyRead": ["/x"]}},
  "theme": 3,
  "unknown": {"kept": [1, 2]}
}
`,
		"codex":  "{\n  \"description\": \"mine\"\n}\n",
		"gemini": "{\n  // mine\n  \"ui\": {\"theme\": \"dark\"}, \"hooksConfig\": {\"enabled\": true, \"disabled\": [\"another\"]}\n}\n",
		"cursor": "",
	}[name]
	p, err := target.Add([]byte(before), Command(a, []string{"/opt/assent-hook"}))
	if err != nil {
		t.Fatal(err)
	}
	m := machine{files: map[string]string{"/src/app/.git/HEAD": "ref: refs/heads/main\n"}, env: map[string]string{}, links: map[string]string{}, loose: map[string]bool{}}
	path := target.UserPath(m.around())
	m.files[path] = string(p.After)
	if name == "codex" {
		m.files["/home/me/.codex/config.toml"] = codexTrusted
	}
	return m, target, path
}

// TestWhatTheAgentWouldNotCall has one way after the other in which an agent does not call the
// hook that its settings name. Those of Claude Code, Codex and Gemini CLI were each seen with
// the real agent.
func TestWhatTheAgentWouldNotCall(t *testing.T) {
	const user, repo = "/home/me/.claude/settings.json", "/src/app/.claude/settings.json"
	const hooks, config = "/home/me/.codex/hooks.json", "/home/me/.codex/config.toml"
	const gem, repoGem = "/home/me/.gemini/settings.json", "/src/app/.gemini/settings.json"
	first := func(path, text string) func(machine) {
		return func(m machine) { m.files[path] = strings.Replace(m.files[path], "{", "{"+text, 1) }
	}
	file := func(path, text string) func(machine) { return func(m machine) { m.files[path] = text } }
	env := func(name, value string) func(machine) { return func(m machine) { m.env[name] = value } }
	swap := func(path, from, to string) func(machine) {
		return func(m machine) {
			if !strings.Contains(m.files[path], from) {
				t.Fatalf("%s has no %q", path, from)
			}
			m.files[path] = strings.Replace(m.files[path], from, to, 1)
		}
	}
	for _, c := range []struct {
		agent, name string
		change      func(machine)
		want        string
		off         bool // a file of the repository, to be told at other commands too
	}{
		{"claude-code", "comment", first(user, "\n// mine"), user + ":2: there is a comment", false},
		{"claude-code", "comment behind", swap(user, `"opus",`, `"opus", /* x */`), user + ":3: there is a comment", false},
		{"claude-code", "trailing comma", swap(user, "[1, 2]}", "[1, 2,]}"), "there is a comma after the last entry", false},
		{"claude-code", "invalid text", swap(user, `"opus"`, `3`), user + ":3: model must be a string", false},
		{"claude-code", "invalid null", swap(user, `"opus"`, `null`), user + ":3: model must be a string", false},
		{"claude-code", "invalid bool", first(user, `"verbose": "yes",`), "verbose must be true or false", false},
		{"claude-code", "invalid number", swap(user, `30`, `0`), "cleanupPeriodDays must be a whole number", false},
		{"claude-code", "invalid list", first(user, `"availableModels": [1],`), "availableModels must be a list of strings", false},
		{"claude-code", "invalid mode", swap(user, `"plan"`, `"nope"`), "permissions must be", false},
		{"claude-code", "invalid lists of rules", swap(user, `["Bash(ls:*)"]`, `"Bash"`), "permissions must be", false},
		{"claude-code", "invalid folders", swap(user, `["../x"]`, `[3]`), "permissions must be", false},
		{"claude-code", "invalid status line", swap(user, `"padding": 0`, `"padding": "0"`), "statusLine must be", false},
		{"claude-code", "invalid plugin", swap(user, `["x"]`, `"x"`), "enabledPlugins must be", false},
		{"claude-code", "invalid variables", swap(user, `{"A": "b"}`, `[]`), "env must be", false},
		{"claude-code", "invalid hook of another", swap(user, `"type": "prompt"`, `"type": "nope"`), "hooks must be", false},
		{"claude-code", "invalid sandbox", swap(user, `"denyRead": ["/x"]`, `"denyRead": "/x"`), "sandbox must be", false},
		{"claude-code", "rules of the sandbox that are not checked", swap(user, `"denyRead"`, `"proxy"`), "sandbox has rules that assent does not check", false},
		{"claude-code", "rules that are not checked", first(user, `"worktree": {},`), user + ":1: worktree has rules that assent does not check", false},
		{"claude-code", "truncated", swap(user, "\n}\n", "\n"), user + ": it is not JSON", false},
		{"claude-code", "disableAllHooks of the user", first(user, `"disableAllHooks": true,`), user + ":1: disableAllHooks is true", false},
		{"claude-code", "disableAllHooks of the repository", file(repo, "{\n\"disableAllHooks\": true}"), repo + ":2: disableAllHooks is true", true},
		{"claude-code", "disableAllHooks of the folder", file("/src/app/sub/.claude/settings.json", `{"disableAllHooks": true}`), "/sub/.claude/settings.json:1: disableAllHooks", true},
		{"claude-code", "disableAllHooks, local", file("/src/app/.claude/settings.local.json", `{"disableAllHooks": true}`), "settings.local.json:1: disableAllHooks", true},
		{"claude-code", "disableAllHooks of the administrator", file("/etc/claude-code/managed-settings.json", `{"disableAllHooks": true}`), "managed-settings.json:1: disableAllHooks", false},
		{"claude-code", "disableAllHooks of the administrator, in parts", file("/etc/claude-code/managed-settings.d/10.json", `{"disableAllHooks": true}`), "10.json:1: disableAllHooks", false},
		{"claude-code", "allowManagedHooksOnly", file("/etc/claude-code/managed-settings.json", `{"allowManagedHooksOnly": true}`), "only the hooks of the administrator", false},
		{"claude-code", "plugins only", file("/etc/claude-code/managed-settings.json", `{"strictPluginOnlyCustomization": ["hooks"]}`), "only those of plugins", false},
		{"claude-code", "broken administrator's", file("/etc/claude-code/managed-settings.json", `{"a": 1,}`), "does not start", false},
		{"claude-code", "CLAUDE_CONFIG_DIR, empty", env("CLAUDE_CONFIG_DIR", ""), "CLAUDE_CONFIG_DIR", false},
		{"claude-code", "CLAUDE_CONFIG_DIR in the settings", swap(user, `"A": "b"`, `"CLAUDE_CONFIG_DIR": "/x"`), user + ":5: env sets CLAUDE_CONFIG_DIR", false},
		{"claude-code", "bare mode", env("CLAUDE_CODE_SIMPLE", "1"), "CLAUDE_CODE_SIMPLE", false},
		{"claude-code", "bare mode in the settings", swap(user, `"A": "b"`, `"CLAUDE_CODE_SIMPLE": "1"`), "env sets CLAUDE_CODE_SIMPLE", false},
		{"claude-code", "narrowed", swap(user, `"matcher": "*"`, `"matcher": "Bash"`), `the hook is for "Bash" alone`, false},
		{"claude-code", "not waited for", swap(user, `"onFailure": "block"`, `"async": true`), `option "async"`, false},

		{"codex", "stale trust", swap(hooks, "9m50s", "9m51s"), config + ":1: the hook pre_tool_use is not the one that was trusted", false},
		{"codex", "stale trust of the second", swap(config, "e5d0a3", "000000"), "config.toml:4: the hook permission_request is not the one", false},
		{"codex", "no trust", file(config, ""), "pre_tool_use was not trusted", false},
		{"codex", "trust of another place", swap(config, "pre_tool_use:0:0", "pre_tool_use:1:0"), "pre_tool_use was not trusted", false},
		{"codex", "trust in a comment", swap(config, "trusted_hash", "# trusted_hash"), "pre_tool_use was not trusted", false},
		{"codex", "turned off", swap(config, "trusted_hash", "enabled = false\ntrusted_hash"), "pre_tool_use is turned off", false},
		{"codex", "features.hooks", swap(config, "[", "features.hooks = false\n["), config + ":1: features.hooks is false", false},
		{"codex", "features, a table", swap(config, "[", "[features]\nhooks=false\n["), config + ":2: features.hooks is false", false},
		{"codex", "features, inline and quoted", swap(config, "[", "features = {\"hooks\" = false}\n["), config + ":1: features.hooks is false", false},
		{"codex", "features, the old name", swap(config, "[", "features.codex_hooks = false\n["), "features.codex_hooks is false", false},
		{"codex", "features of the repository", file("/src/app/.codex/config.toml", "\nfeatures.hooks=false"), "/src/app/.codex/config.toml:2: features.hooks is false", true},
		{"codex", "features of the system", file("/etc/codex/config.toml", "features.hooks=false"), "/etc/codex/config.toml:1", false},
		{"codex", "features of the administrator", file("/etc/codex/managed_config.toml", "features.hooks=false"), "managed_config.toml:1", false},
		{"codex", "requirements", file("/etc/codex/requirements.toml", "[feature_requirements]\nhooks=false"), "requirements.toml:2", false},
		{"codex", "the administrator's hooks only", file("/etc/codex/requirements.toml", "allow_managed_hooks_only=true"), "only the hooks of the administrator", false},
		{"codex", "not TOML", swap(config, "[", "a = \n["), config + ":1: it is not TOML", false},
		{"codex", "comment", first(hooks, "\n// mine"), hooks + ":2: there is a comment", false},
		{"codex", "trailing comma", first(hooks, `"description": "x",},{`), "it is not JSON", false},
		{"codex", "trailing comma at the end", func(m machine) { m.files[hooks] = strings.TrimSuffix(m.files[hooks], "}\n") + ",}" }, "comma after the last", false},
		{"codex", "byte order mark", func(m machine) { m.files[hooks] = byteOrderMark + m.files[hooks] }, "byte order mark", false},
		{"codex", "unknown key", first(hooks, `"version": 1,`), `does not know the key "version"`, false},
		{"codex", "invalid event", swap(hooks, `"hooks": {`, `"hooks": {"Stop": 3,`), "Stop must be a list", false},
		{"codex", "invalid type", swap(hooks, `"type": "command"`, `"type": "nope"`), "hooks of a known type", false},

		{"gemini", "enabled of the user", swap(gem, `"enabled": true`, `"enabled": false`), gem + ":3: hooksConfig.enabled is false", false},
		{"gemini", "enabled, a string", swap(gem, `"enabled": true`, `"enabled": "false"`), "hooksConfig.enabled is", false},
		{"gemini", "disabled of the user", swap(gem, `"another"`, `"assent"`), gem + `:3: hooksConfig.disabled has "assent"`, false},
		{"gemini", "disabled by its command", func(m machine) {
			swap(gem, `"name": "assent",`, ``)(m)
			swap(gem, `"another"`, `"/opt/assent-hook gemini --deadline 9m50s"`)(m)
		}, "hooksConfig.disabled has", false},
		{"gemini", "disabled by a variable", swap(gem, `"another"`, `"$X"`), "hooksConfig.disabled has", false},
		{"gemini", "enabled of the repository", file(repoGem, `{"hooksConfig": {"enabled": false}}`), repoGem + ":1: hooksConfig.enabled is false", true},
		{"gemini", "disabled of the repository", file(repoGem, `{"hooksConfig": {"disabled": ["assent"]}}`), repoGem + ":1: hooksConfig.disabled", true},
		{"gemini", "disabled of the repository, in spite of the administrator", func(m machine) {
			file(repoGem, `{"hooksConfig": {"disabled": ["assent"]}}`)(m)
			file("/etc/gemini-cli/settings.json", `{"hooksConfig": {"enabled": true}}`)(m)
		}, repoGem + ":1: hooksConfig.disabled", true},
		{"gemini", "enabled of the repository, and an administrator's file that anybody may have written", func(m machine) {
			file(repoGem, `{"hooksConfig": {"enabled": false}}`)(m)
			file("/etc/gemini-cli/settings.json", `{"hooksConfig": {"enabled": true}}`)(m)
			m.loose["/etc/gemini-cli/settings.json"] = true
		}, repoGem + ":1: hooksConfig.enabled", true},
		{"gemini", "system", file("/etc/gemini-cli/settings.json", `{"hooksConfig": {"enabled": false}}`), "/etc/gemini-cli/settings.json:1", false},
		{"gemini", "system defaults", file("/etc/gemini-cli/system-defaults.json", `{"hooksConfig": {"enabled": false}}`), "system-defaults.json:1", false},
		{"gemini", "system, elsewhere", func(m machine) {
			env("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "/x.json")(m)
			file("/x.json", `{"hooksConfig": {"enabled": false}}`)(m)
		}, "/x.json:1", false},
		{"gemini", "trailing comma", swap(gem, `"another"`, `"another",`), gem + ":3: there is a comma after the last entry", false},
		{"gemini", "broken repository's", file(repoGem, `{`), repoGem + ": it is not JSON", false},
		{"gemini", "narrowed", swap(gem, `"matcher": ".*"`, `"matcher": "run_shell_command"`), "alone", false},

		{"cursor", "comment", first("/home/me/.cursor/hooks.json", "// mine\n"), "there is a comment", false},
		{"cursor", "version", swap("/home/me/.cursor/hooks.json", `"version": 1`, `"version": 2`), "version", false},
	} {
		t.Run(c.agent+"/"+c.name, func(t *testing.T) {
			m, target, path := installed(t, c.agent)
			if found := target.Inspect(m.around(), path); len(found) > 0 {
				t.Fatalf("as installed: %v", found)
			}
			c.change(m)
			found := target.Inspect(m.around(), path)
			if !strings.Contains(fmt.Sprint(found), c.want) {
				t.Errorf("found %v, want %q", found, c.want)
			}
			for _, f := range found {
				if f.Do == "" || f.What == "" {
					t.Errorf("%#v does not say what to do", f)
				}
			}
			if told := RepositoryOff(m.around()); (len(told) > 0) != c.off {
				t.Errorf("at other commands it is told %v", told)
			}
		})
	}
}

// TestTheFolderOfAVariable has the user's settings elsewhere: what stands in the home folder
// counts for nothing then, and what stands there does.
func TestTheFolderOfAVariable(t *testing.T) {
	for agent, c := range map[string]struct{ name, value, want string }{
		"claude-code": {"CLAUDE_CONFIG_DIR", "/else", "/else/settings.json"},
		"codex":       {"CODEX_HOME", "/link", "/real/hooks.json"},
		"gemini":      {"GEMINI_CLI_HOME", "/else", "/else/.gemini/settings.json"},
		"cursor":      {"CURSOR_HOME", "/else", "/home/me/.cursor/hooks.json"},
	} {
		m, target, _ := installed(t, agent)
		m.env[c.name], m.links["/link"] = c.value, "/real"
		if got := target.UserPath(m.around()); got != c.want {
			t.Errorf("%s reads %s, want %s", agent, got, c.want)
		}
		if agent == "codex" {
			m.files["/real/hooks.json"] = m.files["/home/me/.codex/hooks.json"]
			if found := fmt.Sprint(target.Inspect(m.around(), c.want)); !strings.Contains(found, "/real/config.toml: Codex runs a hook only after") {
				t.Errorf("trust in another folder counts: %s", found)
			}
		}
		if m.env[c.name] = "relative"; agent != "cursor" && len(target.Inspect(m.around(), target.UserPath(m.around()))) == 0 {
			t.Errorf("%s: a relative folder is found to be as it should", agent)
		}
	}
}

// TestWhatTheAdministratorKeepsOn has files that turn hooks off and the administrator's, which
// has the last word, turn them on again.
func TestWhatTheAdministratorKeepsOn(t *testing.T) {
	for agent, c := range map[string]struct{ off, offText, on, onText string }{
		"claude-code": {"/src/app/.claude/settings.json", `{"disableAllHooks": true}`, "/etc/claude-code/managed-settings.json", `{"disableAllHooks": false}`},
		"codex":       {"/src/app/.codex/config.toml", "features.hooks = false", "/etc/codex/requirements.toml", "features.hooks = true"},
		"gemini":      {"/src/app/.gemini/settings.json", `{"hooksConfig": {"enabled": false}}`, "/etc/gemini-cli/settings.json", `{"hooksConfig": {"enabled": true}}`},
	} {
		m, target, path := installed(t, agent)
		m.files[c.off] = c.offText
		if len(target.Inspect(m.around(), path)) == 0 {
			t.Errorf("%s: it is off, and nothing is found", agent)
		}
		m.files[c.on] = c.onText
		if found := target.Inspect(m.around(), path); len(found) > 0 {
			t.Errorf("%s: it is on, and there is %v", agent, found)
		}
	}
}

// TestAProjectsHooksNeedTrust has the hook in the project: Codex and Gemini CLI read nothing
// there before the folder is trusted, and Codex notes the digest in the user's folder.
func TestAProjectsHooksNeedTrust(t *testing.T) {
	m, target, user := installed(t, "codex")
	path := "/src/app/.codex/hooks.json"
	m.files[path] = m.files[user]
	delete(m.files, user)
	m.files["/home/me/.codex/config.toml"] = strings.ReplaceAll(codexTrusted, "/home/me", "/src/app")
	if found := fmt.Sprint(target.Inspect(m.around(), path)); !strings.Contains(found, "before you trust it") {
		t.Error(found)
	}
	m.files["/home/me/.codex/config.toml"] += "[projects.\"/src/app\"]\ntrust_level = \"trusted\"\n"
	if found := target.Inspect(m.around(), path); len(found) > 0 {
		t.Error(found)
	}
	m, target, user = installed(t, "gemini")
	path = "/src/app/sub/.gemini/settings.json"
	m.files[path] = m.files[user]
	delete(m.files, user)
	if found := fmt.Sprint(target.Inspect(m.around(), path)); !strings.Contains(found, "before you trust its folder") {
		t.Error(found)
	}
	m.files["/home/me/.gemini/trustedFolders.json"] = `{"/src/app": "TRUST_FOLDER"}`
	if found := target.Inspect(m.around(), path); len(found) > 0 {
		t.Error(found)
	}
}

func TestIfDead(t *testing.T) {
	for agent, want := range map[string]string{"claude-code": "blocks", "codex": "runs the call", "gemini": "runs the call", "cursor": "blocks"} {
		m, target, path := installed(t, agent)
		if got := target.IfDead([]byte(m.files[path])); !strings.Contains(got, want) {
			t.Errorf("%s: %s", agent, got)
		}
		text := strings.NewReplacer(`"onFailure": "block"`, `"onFailure": "continue"`, `"failClosed": true`, `"failClosed": false`).Replace(m.files[path])
		if got := target.IfDead([]byte(text)); !strings.Contains(got, "runs the call") {
			t.Errorf("%s without its option: %s", agent, got)
		}
	}
}

// TestOnlyRootsFilesAreRooted has a file of this test's own, in a folder that all may write to.
func TestOnlyRootsFilesAreRooted(t *testing.T) {
	around, err := Here(".")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if around.Rooted(path) || around.Rooted(path+"-missing") || !around.Rooted("/") {
		t.Error("who can change a file is not what it seems")
	}
}

// FuzzInspect has whatever text as the file with the hook: nothing that is not JSON is taken
// for settings that an agent reads, except a byte order mark by Claude Code and comments by
// Gemini CLI.
func FuzzInspect(f *testing.F) {
	for _, text := range files {
		f.Add([]byte(text))
		if p, err := Add([]byte(text), nil, claudeEntries(program)); err == nil {
			f.Add(p.After)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, name := range []string{"claude-code", "codex", "gemini", "cursor"} {
			m, target, path := installed(t, name)
			m.files[path] = string(text)
			found := target.Inspect(m.around(), path)
			_ = target.IfDead(text)
			if name == "claude-code" {
				text = bytes.TrimPrefix(text, []byte(byteOrderMark))
			}
			if name != "gemini" && !json.Valid(text) && len(found) == 0 {
				t.Errorf("%s takes %q", name, text)
			}
		}
	})
}
