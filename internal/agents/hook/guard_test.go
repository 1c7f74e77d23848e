package hook

import (
	"strings"
	"testing"
)

// free lets everything through that a rule, config or mode can.
const free = `
approvals: false
shell: {default: {approval: allow}}
tools:
  "write_file": {approval: allow}
  "edit_file": {approval: allow}
rules:
  - allow write_file(**)
  - allow write_file(.claude/settings.json)
  - allow delete_file(**)
  - allow shell
`

func TestAnAgentsOwnSettingsAreForAPersonOnly(t *testing.T) {
	for name, input := range map[string]string{
		"write":            event("PreToolUse", "t", "Write", `{"file_path":"$TOP/project/.claude/settings.json","content":"{}"}`),
		"local":            event("PreToolUse", "t", "Write", `{"file_path":"$TOP/project/.claude/settings.local.json","content":"{}"}`),
		"another agent's":  event("PreToolUse", "t", "Write", `{"file_path":"$TOP/project/sub/.cursor/hooks.json","content":"{}"}`),
		"at home":          event("PreToolUse", "t", "Write", `{"file_path":"$TOP/.codex/config.toml","content":""}`),
		"upper case":       event("PreToolUse", "t", "Write", `{"file_path":"$TOP/project/.Gemini/Settings.json","content":"{}"}`),
		"a skill's hooks":  event("PreToolUse", "t", "Write", `{"file_path":"$TOP/project/.claude/skills/x/SKILL.md","content":""}`),
		"an agent's hooks": event("PreToolUse", "t", "Write", `{"file_path":"$TOP/project/.claude/agents/x.md","content":""}`),
		"a server":         event("PreToolUse", "t", "Write", `{"file_path":"$TOP/project/sub/.mcp.json","content":""}`),
		"edit":             event("PreToolUse", "t", "Edit", `{"file_path":"$TOP/project/.claude/settings.json","old_string":"a","new_string":"b"}`),
		"through a link":   event("PreToolUse", "t", "Write", `{"file_path":"$TOP/project/link.json","content":"{}"}`),
		"redirection":      bash("t", "echo {} > .claude/settings.json"),
		"a program":        bash("t", "cp main.go .gemini/settings.json"),
		"sed":              bash("t", "sed -i s/a/b/ .claude/settings.json"),
		"deleted":          bash("t", "rm .claude/settings.json"),
		"the whole folder": bash("t", "rm -rf .claude"),
		"moved away":       bash("t", "mv .claude x"),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.write("config/config.yaml", free)
			p.write("project/.claude/settings.json", "{\"a\": 1}\n")
			p.link("project/.claude/settings.json", "project/link.json")
			wantDecision(t, p.answer(claude(t), input), "ask")
			bypass := strings.Replace(input, `"cwd"`, `"permission_mode":"bypassPermissions","cwd"`, 1)
			bypass = strings.Replace(bypass, `"t"`, `"t2"`, 1)
			wantDecision(t, p.answer(claude(t), bypass), "deny")
		})
	}
}

func TestWhatIsNoSettingIsAsFreeAsEver(t *testing.T) {
	for _, input := range []string{
		event("PreToolUse", "t", "Write", `{"file_path":"$TOP/project/.claude/notes.md","content":""}`),
		event("PreToolUse", "t", "Write", `{"file_path":"$TOP/project/settings.json","content":"{}"}`),
		event("PreToolUse", "t", "Read", `{"file_path":"$TOP/project/.claude/settings.json"}`),
	} {
		p := newPlace(t)
		p.write("config/config.yaml", free)
		p.write("project/.claude/settings.json", "{}\n")
		wantDecision(t, p.answer(claude(t), input), "allow")
	}
}

func TestAssentsOwnFilesAreBlocked(t *testing.T) {
	for name, input := range map[string]string{
		"the state":     event("PreToolUse", "t", "Write", `{"file_path":"$TOP/state/assent.db","content":""}`),
		"the config":    event("PreToolUse", "t", "Write", `{"file_path":"$TOP/config/config.yaml","content":""}`),
		"the policy":    event("PreToolUse", "t", "Write", `{"file_path":"$TOP/project/.assent/policy.yaml","content":""}`),
		"a redirection": bash("t", "echo > .assent/policy.yaml"),
		"a command":     bash("t", "rm -rf $TOP/state"),
		"the program":   bash("t", "cp main.go $TOP/bin/assent-hook"),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.write("config/config.yaml", free)
			p.write("bin/assent-hook", "")
			o := p.options(claude(t), input)
			o.Places.Programs = []string{p.top + "/bin/assent-hook"}
			wantBlocked(t, Run(t.Context(), o), "nobody can approve it")
		})
	}
}

func TestSettingsThatCommandsCannotChange(t *testing.T) {
	p := newPlace(t)
	p.write("project/.gemini/GEMINI.md", "")
	p.write("project/sub/.claude/settings.json", "{}\n")
	p.write("project/deep/.claude/worktrees/x/a", "")
	p.write("project/node_modules/x/.claude/settings.json", "{}\n")
	p.write("home/.cursor/x", "")
	got, err := Settings("claude-code", p.project, p.top+"/home")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range got {
		names = append(names, strings.TrimPrefix(e.Path, p.project+"/"))
	}
	want := ".claude .cursor .gemini deep/.claude/settings.json deep/.claude/settings.local.json deep/.claude/managed-settings.json " +
		"deep/.claude/hooks deep/.claude/agents deep/.claude/commands deep/.claude/skills deep/.claude/plugins sub/.claude"
	if strings.Join(names, " ") != want {
		t.Errorf("%q, want %q", names, want)
	}
	p.link("project/sub/.claude", "project/.claude")
	if _, err := Settings("claude-code", p.project, p.top+"/home"); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a link that a command can replace: %v", err)
	}
}
