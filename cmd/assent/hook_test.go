package main

import (
	"encoding/json"
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// hookEvent is the script command `event TOOL NAME VALUE [FOLDER]`: it writes what Claude Code says
// about a call in a folder, by default project, to event.json.
func hookEvent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 && len(args) != 4 {
		ts.Fatalf("usage: event TOOL NAME VALUE [FOLDER]")
	}
	folder := "project"
	if len(args) == 4 {
		folder = args[3]
	}
	data, err := json.Marshal(map[string]any{
		"session_id": "s", "cwd": ts.MkAbs(folder), "hook_event_name": "PreToolUse", "permission_mode": "default",
		"tool_name": args[0], "tool_input": map[string]string{args[1]: args[2]}, "tool_use_id": args[2],
	})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("event.json"), data, 0o600))
}
