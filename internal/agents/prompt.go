package agents

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"
)

// promptHook is our name for the moment at which Claude Code calls the tool that stands
// for its prompt.
const promptHook = "permission_prompt"

// prompt is Claude Code with --permission-prompt-tool: it calls a tool in place of its
// prompt, so there is no prompt to leave a question to.
var prompt = Agent{
	Name: "claude-code", Title: "Claude Code", Patience: 590 * time.Second, usersShell: true,
	moments: map[string]Moment{promptHook: Asking},
	read:    readClaude,
	reply:   replyPrompt,
	tools:   claudeTools,
}

// Prompt is Claude Code where it asks through a tool, with what [PromptEvent] makes of its
// arguments.
func Prompt() *Agent { return &prompt }

// PromptEvent makes an event of the arguments with which Claude Code calls the tool. They
// name neither the session nor the folder.
func PromptEvent(session, dir string, arguments json.RawMessage) ([]byte, error) {
	in, err := readObject(arguments, "the arguments")
	if err != nil {
		return nil, err
	}
	event := object{"tool_name": in["tool_name"], "tool_input": in["input"], "tool_use_id": in["tool_use_id"]}
	for name, text := range map[string]string{"hook_event_name": promptHook, "session_id": session, "cwd": dir} {
		if event[name], err = json.Marshal(text); err != nil {
			return nil, err
		}
	}
	return json.Marshal(event)
}

// replyPrompt gives the arguments back with a yes: without them the tool would run with
// none.
func replyPrompt(e Event, a Answer) Reply {
	if a.Verdict != Allow {
		return printed(claudeBehavior{Behavior: "deny", Message: cmp.Or(a.Reason, "assent gives no answer, and there is no prompt to leave it to")})
	}
	if a.Input == nil {
		a.Input = e.Input
	}
	return printed(claudeBehavior{Behavior: "allow", Input: a.Input})
}

// PromptText is the text that the tool returns for a reply. Whatever is no answer is a no.
func PromptText(r Reply) string {
	if r.Exit != 0 || len(r.Stdout) == 0 {
		why := strings.TrimSpace(r.Stderr)
		if why == "" {
			why = "assent: there was no answer"
		}
		r = printed(claudeBehavior{Behavior: "deny", Message: why})
	}
	return strings.TrimSpace(string(r.Stdout))
}
