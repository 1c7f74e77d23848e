package settings

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/agents"
)

// A Target is the settings of an agent.
type Target struct {
	Agent *agents.Agent
	// Folder is the agent's own below the home folder or the project, File the settings
	// in it.
	Folder, File string

	top     map[string]any
	entries func(program []string) []Entry
}

// seconds is how long the agents are told to wait for a hook. The hook itself denies ten
// seconds before.
const seconds = 600

// deadline is what a hook is told about that.
const deadline = "9m50s"

var targets = map[string]Target{
	"claude-code": {Folder: ".claude", File: "settings.json", entries: claudeEntries},
	"codex":       {Folder: ".codex", File: "hooks.json", entries: codexEntries},
	"gemini":      {Folder: ".gemini", File: "settings.json", entries: geminiEntries},
	"cursor":      {Folder: ".cursor", File: "hooks.json", entries: cursorEntries, top: map[string]any{"version": 1}},
}

// TargetOf returns the settings of an agent.
func TargetOf(a *agents.Agent) Target {
	t := targets[a.Name]
	t.Agent = a
	return t
}

// all are the settings of all agents.
func all() (out []Target) {
	for _, a := range agents.All() {
		out = append(out, TargetOf(a))
	}
	return out
}

// Path is where the settings are, below a project; see [Target.UserPath] for the user's.
func (t Target) Path(below string) string { return filepath.Join(below, t.Folder, t.File) }

// Add plans to have the agent call the program, which is one with arguments, before its
// tools run.
func (t Target) Add(text []byte, program []string) (Plan, error) {
	return Add(text, t.top, t.entries(program))
}

// claudeEntries run the program without a shell, and block what it fails to answer.
func claudeEntries(program []string) []Entry {
	return each([]string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "SessionEnd"}, func(hook string) any {
		h := map[string]any{"type": "command", "command": program[0], "args": program[1:], "timeout": seconds}
		if hook == "PreToolUse" {
			h["onFailure"] = "block"
		}
		return matching(hook, "*", h)
	})
}

func codexEntries(program []string) []Entry {
	return each([]string{"PreToolUse", "PermissionRequest", "PostToolUse"}, func(hook string) any {
		return matching(hook, "*", map[string]any{"type": "command", "command": quoted(program), "timeout": seconds})
	})
}

// geminiEntries give the time in milliseconds.
func geminiEntries(program []string) []Entry {
	return each([]string{"BeforeTool", "AfterTool", "SessionEnd"}, func(hook string) any {
		return matching(hook, ".*", map[string]any{
			"type": "command", "name": "assent", "command": quoted(program), "timeout": seconds * 1000,
		})
	})
}

// cursorEntries name the hook of each kind, and the general one for what has none.
func cursorEntries(program []string) []Entry {
	return each([]string{"beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "preToolUse"}, func(hook string) any {
		h := map[string]any{"command": quoted(program), "timeout": seconds, "failClosed": true}
		if hook == "preToolUse" {
			h["matcher"] = "Write|Edit|MultiEdit|StrReplace|Delete"
		}
		return h
	})
}

// matching is a hook with what it is for. The end of a session is for nothing.
func matching(hook, matcher string, h map[string]any) any {
	group := map[string]any{"hooks": []any{h}}
	if hook != "SessionEnd" {
		group["matcher"] = matcher
	}
	return group
}

func each(hooks []string, entry func(hook string) any) []Entry {
	var out []Entry
	for _, hook := range hooks {
		out = append(out, Entry{Path: []string{"hooks", hook}, Value: entry(hook)})
	}
	return out
}

// Command is the program with its arguments for an agent, and further flags.
func Command(a *agents.Agent, program []string, flags ...string) []string {
	return slices.Concat(program, []string{a.Name, "--deadline", deadline}, flags)
}

// quoted writes a command for a shell.
func quoted(words []string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%"
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; strings.Trim(w, plain) != "" || w == "" {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
