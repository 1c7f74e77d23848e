package main

import (
	"encoding/json"
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// hookEvent is the script command `event TOOL NAME VALUE`: it writes what Claude Code says
// about a call in the folder project to event.json.
func hookEvent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: event TOOL NAME VALUE")
	}
	data, err := json.Marshal(map[string]any{
		"session_id": "s", "cwd": ts.MkAbs("project"), "hook_event_name": "PreToolUse", "permission_mode": "default",
		"tool_name": args[0], "tool_input": map[string]string{args[1]: args[2]}, "tool_use_id": args[2],
	})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("event.json"), data, 0o600))
}
