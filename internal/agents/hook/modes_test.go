package hook

import (
	"strings"
	"testing"

	"github.com/assent-dev/assent/internal/agents"
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
		{"plan", bash("1", "make deploy"), "ask"},
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
			wantBlocked(t, reply, "it must be asked", "open an inbox")
		}
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
