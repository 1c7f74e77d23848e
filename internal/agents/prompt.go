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
	Name: "claude-code", Title: "Claude Code", Patience: 590 * time.Second,
	usersShell: true, project: "CLAUDE_PROJECT_DIR",
	moments: map[string]Moment{promptHook: Asking},
	read:    readPrompt,
	reply:   replyPrompt,
	tools:   claudeTools,
}

// readPrompt reads what [PromptEvent] makes. The folder that the shell of Claude Code has moved to
// is not in it. It is one of the project: a shell that leaves it is put back after the command.
func readPrompt(o object) (Event, error) {
	e, err := readClaude(o)
	e.Project, e.Dir = e.Dir, ""
	return e, err
}

// Prompt is Claude Code where it asks through a tool, with what [PromptEvent] makes of its
// arguments.
func Prompt() *Agent { return &prompt }

// PromptEvent makes an event of the arguments with which Claude Code calls the tool. They
// name neither the session nor the project.
func PromptEvent(session, project string, arguments json.RawMessage) ([]byte, error) {
	in, err := readObject(arguments, "the arguments")
	if err != nil {
		return nil, err
	}
	event := object{"tool_name": in["tool_name"], "tool_input": in["input"], "tool_use_id": in["tool_use_id"]}
	for name, text := range map[string]string{"hook_event_name": promptHook, "session_id": session, "cwd": project} {
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
		return printed(claudeBehavior{Behavior: "deny", Message: cmp.Or(a.Reason, "assent gives no answer, "+
			"and there is no prompt to leave it to")})
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
