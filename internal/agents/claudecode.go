package agents

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// claudeCode is Claude Code 2.1: hooks in settings.json, 600 seconds a hook.
var claudeCode = Agent{
	Name: "claude-code", Title: "Claude Code", Patience: 590 * time.Second,
	usersShell: true, project: "CLAUDE_PROJECT_DIR",
	replaces: true, keepsFolder: true,
	prompts: []string{"PreToolUse", "PermissionRequest"},
	defers:  []string{"PreToolUse"},
	moments: map[string]Moment{
		"PreToolUse": Before, "PermissionRequest": Asking, "PostToolUse": After, "PostToolUseFailure": After,
		"SessionEnd": Ending,
	},
	read:   readClaude,
	reply:  replyClaude,
	tools:  claudeTools,
	like:   map[string]string{"shell": "Bash", "read_file": "Read", "write_file": "Write", "http_request": "WebFetch"},
	unseen: unseenClaude,
}

// readClaude reads what Claude Code and Codex send, which is the same but for details.
func readClaude(o object) (e Event, err error) {
	if e.Session, err = o.text("session_id"); err != nil {
		return e, err
	}
	if hook, _ := o.optional("hook_event_name"); hook == "SessionEnd" {
		return e, nil
	}
	if e.Dir, err = o.text("cwd"); err != nil {
		return e, err
	}
	if e.Tool, err = o.text("tool_name"); err != nil {
		return e, err
	}
	if e.Input, err = o.input("tool_input"); err != nil {
		return e, err
	}
	if e.CallID, err = o.optional("tool_use_id"); err != nil {
		return e, err
	}
	mode, err := o.optional("permission_mode")
	e.Unasked = mode == "bypassPermissions" || mode == "dontAsk"
	e.Unknown = !slices.Contains(claudeModes, mode)
	e.Plan, e.Edits = mode == "plan", mode == "acceptEdits"
	return e, err
}

// claudeModes are those in which Claude Code 2.1.325 shows a question of a hook to its user, or where
// nobody is there denies the call. It was tried in each.
var claudeModes = []string{"", "default", "plan", "acceptEdits", "auto", "bypassPermissions", "dontAsk"}

// unseenClaude finds claude -p without a tool that stands for its prompt. It denies what a hook
// would ask, and nobody learns of the question.
func unseenClaude(chain []Process, environ []string) bool {
	return slices.Contains(environ, printing) && len(chain) > 0 && !slices.ContainsFunc(chain, func(p Process) bool {
		return slices.ContainsFunc(p.Args, func(arg string) bool { return strings.HasPrefix(arg, "--permission-prompt-tool") })
	})
}

type claudeOutput struct {
	Output any `json:"hookSpecificOutput"`
}

type claudeDecision struct {
	Event    string          `json:"hookEventName"`
	Decision string          `json:"permissionDecision"`
	Reason   string          `json:"permissionDecisionReason,omitempty"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
}

type claudePermission struct {
	Event    string         `json:"hookEventName"`
	Decision claudeBehavior `json:"decision"`
}

type claudeBehavior struct {
	Behavior string          `json:"behavior"`
	Message  string          `json:"message,omitempty"`
	Input    json.RawMessage `json:"updatedInput,omitempty"`
}

func replyClaude(e Event, a Answer) Reply {
	switch {
	case !e.Moment.Decides(), a.Verdict == Nothing:
		return Reply{}
	case e.Moment == Asking && a.Verdict == Ask:
		return Reply{} // the prompt is about to be shown
	case e.Moment == Asking:
		return printed(claudeOutput{permission(e, a)})
	}
	words := map[Verdict]string{Allow: "allow", Ask: "ask", Deny: "deny", Defer: "defer"}
	return printed(claudeOutput{claudeDecision{Event: e.Hook, Decision: words[a.Verdict], Reason: a.Reason,
		Input: a.Input}})
}

// permission answers the hook that stands for the prompt.
func permission(e Event, a Answer) claudePermission {
	b := claudeBehavior{Behavior: "deny", Message: a.Reason}
	if a.Verdict == Allow {
		b = claudeBehavior{Behavior: "allow", Input: a.Input}
	}
	return claudePermission{Event: e.Hook, Decision: b}
}
