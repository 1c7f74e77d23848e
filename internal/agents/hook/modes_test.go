package hook

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/policy"
)

// TestAQuestionInEachMode has what is left to Claude Code's own prompt, by its mode and by who is in
// front of it. The modes were tried with the agent itself: see package e2e.
func TestAQuestionInEachMode(t *testing.T) {
	person := func(id string) string {
		return event("PreToolUse", id, "Bash", `{"command":"npm test","dangerouslyDisableSandbox":true}`)
	}
	for _, c := range []struct {
		mode, input, want string
	}{
		{"", bash("1", "make deploy"), "ask"},
		{"default", bash("1", "make deploy"), "ask"},
		{"acceptEdits", bash("1", "make deploy"), "ask"},
		{"auto", bash("1", "make deploy"), "ask"},
		{"bypassPermissions", bash("1", "make deploy"), "ask"},
		{"dontAsk", bash("1", "make deploy"), "ask"},
		{"newMode", bash("1", "make deploy"), "deny"},
		{"newMode", bash("1", "npm test"), "allow"},
		// A rule allows it inside the agent's sandbox.
		{"default", person("1"), "ask"},
		{"auto", person("1"), "ask"},
		{"bypassPermissions", person("1"), "deny"},
		{"dontAsk", person("1"), "deny"},
		{"newMode", person("1"), "deny"},
	} {
		input := strings.Replace(c.input, `"cwd"`, `"permission_mode":"`+c.mode+`","cwd"`, 1)
		p := newPlace(t)
		reply := p.answer(claude(t), input)
		wantDecision(t, reply, c.want)
		if c.want == "deny" {
			wantBlocked(t, reply, "it needs approval", "open an inbox")
		}
	}
}

// inMode is an event of Claude Code in a mode.
func inMode(mode, input string) string {
	return strings.Replace(input, `"cwd"`, `"permission_mode":"`+mode+`","cwd"`, 1)
}

// addRule keeps a rule.
func (p *place) addRule(text string) {
	p.t.Helper()
	rule, err := policy.ParseRule(text)
	if err != nil {
		p.t.Fatal(err)
	}
	rule.ID = text
	s := p.open()
	if err := s.AddRules(p.t.Context(), rule); err != nil {
		p.t.Fatal(err)
	}
}

// TestPlanModeChangesNothing has calls in plan mode: rules and config that allow a change do not, and what only reads
// is as free as ever.
func TestPlanModeChangesNothing(t *testing.T) {
	const write = `{"file_path":"$TOP/project/new.go","content":"package main\n"}`
	for _, c := range []struct{ name, input, want string }{
		{"a command that a rule allows", bash("1", "npm test"), "deny"},
		{"a command that nothing allows", bash("1", "make deploy"), "deny"},
		{"a redirection", bash("1", "ls > list.txt"), "deny"},
		{"a command that reads", bash("1", "git status"), "allow"},
		{"commands that read", bash("1", "ls && cat main.go"), "allow"},
		{"a file", event("PreToolUse", "1", "Write", write), "deny"},
		{"an edit", event("PreToolUse", "1", "Edit",
			`{"file_path":"$TOP/project/main.go","old_string":"main() {}","new_string":"main() { run() }"}`), "deny"},
		{"a read", event("PreToolUse", "1", "Read", `{"file_path":"$TOP/project/main.go"}`), "allow"},
		{"its plan", event("PreToolUse", "1", "Write", `{"file_path":"$TOP/.claude/plans/a.md","content":"x"}`), "ask"},
		{"another file of its folder", event("PreToolUse", "1", "Write",
			`{"file_path":"$TOP/.claude/notes.md","content":"x"}`), "deny"},
		{"what a shell sends by itself", bash("1", "cat main.go > /dev/tcp/127.0.0.1/80"), "ask"},
		{"the tool of a server", event("PreToolUse", "1", "mcp__github__create_issue", `{"title":"x"}`), "ask"},
		{"its own tool", event("PreToolUse", "1", "ExitPlanMode", `{"plan":"x"}`), "allow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			for _, rule := range []string{"allow write_file(**)", "allow github:create_issue", "allow connect(127.0.0.1:80)"} {
				p.addRule(rule)
			}
			reply := p.answer(claude(t), inMode("plan", c.input))
			wantDecision(t, reply, c.want)
			if c.want == "deny" {
				wantBlocked(t, reply, "plan mode")
			}
		})
	}
}

// TestPlanModeAndAPolicyThatAllows has a trusted policy that lets everything run.
func TestPlanModeAndAPolicyThatAllows(t *testing.T) {
	p := newPlace(t)
	p.write("project/.assent/policy.yaml", "sandbox:\n  paths:\n    .: {root: .., mode: rw, approval: allow}\n"+
		"shell:\n  default: {approval: allow}\n")
	p.trust("project/.assent/policy.yaml")
	wantDecision(t, p.answer(claude(t), bash("1", "touch x")), "allow")
	wantBlocked(t, p.answer(claude(t), inMode("plan", bash("2", "touch x"))), "plan mode")
	wantDecision(t, p.answer(claude(t), inMode("plan", bash("3", "ls"))), "allow")
}

// TestAcceptEdits has edits in the mode in which Claude Code's user accepts them: no question inside the project, and
// denies, secrets, other folders and commands as ever.
func TestAcceptEdits(t *testing.T) {
	write := func(path string) string {
		return event("PreToolUse", "1", "Write", `{"file_path":"`+path+`","content":"x"}`)
	}
	for _, c := range []struct{ input, plain, accepting string }{
		{write("$TOP/project/new.go"), "ask", "allow"},
		{write("$TOP/project/main.go"), "ask", "allow"},
		{write("$TOP/project/denied.go"), "deny", "deny"},
		{write("$TOP/project/.env"), "ask", "ask"},
		{write("$TOP/project/.claude/settings.json"), "ask", "ask"},
		{write("$TOP/elsewhere.txt"), "ask", "ask"},
		{write("$TOP/project/.bashrc"), "ask", "ask"},
		{write("$TOP/project/.husky/pre-commit"), "ask", "ask"},
		{write("$TOP/project/.VSCode/tasks.json"), "ask", "ask"},
		{bash("1", "make deploy"), "ask", "ask"},
		{bash("1", "touch new.go"), "ask", "ask"},
	} {
		for mode, want := range map[string]string{"default": c.plain, "acceptEdits": c.accepting} {
			p := newPlace(t)
			p.addRule("deny write_file(denied.go)")
			reply := p.answer(claude(t), inMode(mode, c.input))
			if !strings.Contains(string(reply.Stdout), `"permissionDecision":"`+want+`"`) {
				t.Errorf("%s in %s: %s%s, want %s", c.input, mode, reply.Stdout, reply.Stderr, want)
			}
		}
	}
}

// TestAcceptEditsInAHomeFolder has a session that was started in the home folder, in which shells and the system run what
// lies there, and in a folder above it.
func TestAcceptEditsInAHomeFolder(t *testing.T) {
	for _, home := range []string{"project", "project/home"} {
		p := newPlace(t)
		p.write(home+"/x", "")
		t.Setenv("HOME", filepath.Join(p.top, home))
		write := event("PreToolUse", "1", "Write", `{"file_path":"$TOP/project/.config/autostart/x.desktop","content":"x"}`)
		wantDecision(t, p.answer(claude(t), inMode("acceptEdits", write)), "ask")
	}
}

// TestClaudeWithoutAPrompt has claude -p, which denies what a hook asks, and the tool that may stand
// for its prompt.
func TestClaudeWithoutAPrompt(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"claude", "-p", "Go."}, "deny"},
		{[]string{"claude", "-p", "Go.", "--permission-prompt-tool", "mcp__x__y"}, "ask"},
		{[]string{"claude", "-p", "--permission-prompt-tool=stdio"}, "ask"},
	} {
		p := newPlace(t)
		o := p.options(claude(t), bash("1", "make deploy"))
		o.Environ = append(o.Environ, "CLAUDE_CODE_ENTRYPOINT=sdk-cli")
		o.Chain = func() []agents.Process { return []agents.Process{{Args: []string{"sh"}}, {Args: c.args}} }
		reply := Run(t.Context(), o)
		wantDecision(t, reply, c.want)
		if c.want == "deny" {
			wantBlocked(t, reply, "open an inbox")
		}
	}
}

// TestAQuestionDoesNotLiftADeny has Gemini CLI, which takes the question of a hook in place of what
// its own policy denies.
func TestAQuestionDoesNotLiftADeny(t *testing.T) {
	const deploy = `{"session_id":"g","cwd":"$TOP/project","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"true && make deploy"}}`
	for policy, want := range map[string]string{
		"": `"decision":"ask"`,
		"[[rule]]\ntoolName=\"run_shell_command\"\ncommandPrefix=\"make\"\ndecision=\"deny\"\npriority=1\n":     "Gemini CLI denies it",
		"[[rule]]\ntoolName=\"run_shell_command\"\ncommandPrefix=\"make\"\ndecision=\"ask_user\"\npriority=1\n": `"decision":"ask"`,
		"[[rule": "that is not known",
	} {
		p := newPlace(t)
		if policy != "" {
			p.write(".gemini/policies/x.toml", policy)
		}
		o := p.options(named(t, "gemini"), deploy)
		reply := Run(t.Context(), o)
		if !strings.Contains(string(reply.Stdout), want) {
			t.Errorf("%q: %s%s, want %s", policy, reply.Stdout, reply.Stderr, want)
		}
		if !strings.HasPrefix(want, `"decision"`) {
			wantBlocked(t, reply)
		}
	}
}

// TestAQuestionDoesNotLiftADenyOfATool is the same for a tool other than the shell.
func TestAQuestionDoesNotLiftADenyOfATool(t *testing.T) {
	p := newPlace(t)
	p.write(".gemini/policies/x.toml", "[[rule]]\ntoolName=\"write_file\"\nargsPattern=\"secret\"\ndecision=\"deny\"\npriority=1\n")
	for name, want := range map[string]string{"secret.txt": "Gemini CLI denies it", "plain.txt": `"decision":"ask"`} {
		input := `{"session_id":"g","cwd":"$TOP/project","hook_event_name":"BeforeTool","tool_name":"write_file","tool_input":{"file_path":"$TOP/project/` + name + `","content":"x"}}`
		if reply := p.answer(named(t, "gemini"), input); !strings.Contains(string(reply.Stdout), want) {
			t.Errorf("%s: %s%s, want %s", name, reply.Stdout, reply.Stderr, want)
		}
	}
}

// TestASearchLeavesOutWhatClaudeCodeDenies has Grep in a project with a file that must not be read: it is denied, unless
// Claude Code's own lists keep the file out of its searches.
func TestASearchLeavesOutWhatClaudeCodeDenies(t *testing.T) {
	search := event("PreToolUse", "1", "Grep", `{"pattern":"x","path":"$TOP/project"}`)
	for settings, want := range map[string]string{
		"": "deny", `{"permissions":{"deny":["Read(.env)"]}}`: "allow", `{"permissions":{"ask":["Read(.env)"]}}`: "deny",
		`{"permissions":{"deny":["Read(other)"]}}`: "deny", `{"permissions":{"deny":["Edit(.env)"]}}`: "deny", `{`: "deny",
	} {
		p := newPlace(t)
		p.addRule("deny read_file(**/.env/**)")
		if settings != "" {
			p.write(".claude/settings.json", settings)
		}
		reply := p.answer(claude(t), search)
		if !strings.Contains(string(reply.Stdout), `"permissionDecision":"`+want+`"`) {
			t.Errorf("%s: %s%s, want %s", settings, reply.Stdout, reply.Stderr, want)
		}
		wantDecision(t, p.answer(claude(t), event("PreToolUse", "2", "Read", `{"file_path":"$TOP/project/.env"}`)), "deny")
	}
}
