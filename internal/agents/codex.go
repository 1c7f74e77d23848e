package agents

import "time"

// codex is OpenAI Codex with the hooks of August 2026. A plain allow and an ask are
// invalid there, and what is invalid lets the call run.
var codex = Agent{
	Name: "codex", Title: "Codex", Patience: 590 * time.Second, hooksInProject: true, asksToLeave: true,
	prompts: []string{"PermissionRequest"},
	moments: map[string]Moment{"PreToolUse": Before, "PermissionRequest": Asking, "PostToolUse": After},
	read:    readClaude,
	reply:   replyCodex,
	tools:   codexTools,
	like:    map[string]string{"shell": "Bash", "read_file": "read_file"},
}

func replyCodex(e Event, a Answer) Reply {
	none := Reply{Stdout: []byte("{}\n")}
	switch {
	case !e.Moment.Decides(), a.Verdict == Nothing:
		return none
	case a.Verdict == Ask && e.Moment == Asking:
		return none // the prompt is about to be shown
	case a.Verdict == Ask:
		a = Answer{Reason: "it must be asked, and Codex cannot leave that to its prompt: " + a.Reason}
	case a.Verdict == Allow && e.Moment == Before && a.Input == nil:
		return none
	case a.Verdict == Allow && e.Moment == Asking && a.Input != nil:
		a = Answer{Reason: "a person changed the arguments, which Codex does not take here"}
	}
	if e.Moment == Asking {
		return printed(claudeOutput{permission(e, a)})
	}
	d := claudeDecision{Event: e.Hook, Decision: "deny", Reason: a.Reason}
	if a.Verdict == Allow {
		d = claudeDecision{Event: e.Hook, Decision: "allow", Input: a.Input}
	}
	return printed(claudeOutput{d})
}
