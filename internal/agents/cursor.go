package agents

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// cursor is Cursor: hooks in hooks.json. One action can fire a hook for tools in general
// and one for its own kind.
var cursor = Agent{
	Name: "cursor", Title: "Cursor", Patience: 25 * time.Second, usersShell: true, untried: true,
	prompts: []string{"preToolUse", "beforeShellExecution", "beforeMCPExecution"}, // a file that is read has no prompt
	moments: map[string]Moment{
		"preToolUse": Before, "beforeShellExecution": Before, "beforeMCPExecution": Before, "beforeReadFile": Before,
		"postToolUse": After, "afterShellExecution": After, "afterMCPExecution": After, "sessionEnd": Ending,
	},
	read:  readCursor,
	reply: replyCursor,
	tools: cursorTools,
	like:  map[string]string{"shell": "Shell", "read_file": "Read", "write_file": "Write", "http_request": "WebFetch"},
}

func readCursor(o object) (e Event, err error) {
	if e.Session, err = o.text("conversation_id"); err != nil {
		return e, err
	}
	hook, err := o.text("hook_event_name")
	if err != nil || hook == "sessionEnd" {
		return e, err
	}
	if e.Dir, e.Project, err = cursorFolder(o); err != nil {
		return e, err
	}
	switch hook {
	case "beforeShellExecution", "afterShellExecution":
		e.Tool = "Shell"
		e.Input, err = o.part("command", "cwd")
	case "beforeReadFile":
		e.Tool = "Read"
		e.Input, err = o.part("file_path")
	case "beforeMCPExecution", "afterMCPExecution":
		err = readCursorMCP(o, &e)
	default:
		err = readCursorTool(o, &e)
	}
	return e, err
}

// cursorFolder is the workspace, which is the project and the root for paths; without one it is
// the working folder, which says nothing about the project.
func cursorFolder(o object) (dir, project string, err error) {
	workspaces, err := o.texts("workspace_roots")
	if err != nil {
		return "", "", err
	}
	if len(workspaces) > 0 && workspaces[0] != "" {
		return workspaces[0], workspaces[0], nil
	}
	dir, err = o.text("cwd")
	return dir, "", err
}

// part returns the fields of the names that are there, as the arguments of a tool.
func (o object) part(names ...string) (json.RawMessage, error) {
	part := object{}
	for _, name := range names {
		if o.has(name) {
			part[name] = o[name]
		}
	}
	return json.Marshal(part)
}

func readCursorCall(o object, e *Event) (err error) {
	if e.Tool, err = o.text("tool_name"); err == nil {
		e.Input, err = o.input("tool_input")
	}
	return err
}

func readCursorMCP(o object, e *Event) (err error) {
	if err := readCursorCall(o, e); err != nil {
		return err
	}
	if e.Server, err = o.optional("mcp_server_name"); err == nil && e.Server == "" {
		err = errors.New("mcp_server_name is missing: the server of the tool " + e.Tool + " is unknown")
	}
	return err
}

func readCursorTool(o object, e *Event) (err error) {
	if err := readCursorCall(o, e); err != nil {
		return err
	}
	if name, ok := strings.CutPrefix(e.Tool, "MCP:"); ok {
		e.Tool = name
		if e.Server, err = o.optional("mcp_server_name"); e.Server == "" {
			e.Server = "mcp"
		}
		return err
	}
	e.CallID, err = o.optional("tool_use_id")
	return err
}

type cursorDecision struct {
	Permission string          `json:"permission"`
	User       string          `json:"user_message,omitempty"`
	Agent      string          `json:"agent_message,omitempty"`
	Input      json.RawMessage `json:"updated_input,omitempty"`
}

// replyCursor always prints something: of nothing, one half of Cursor makes a yes and
// the other a failure.
func replyCursor(e Event, a Answer) Reply {
	if !e.Moment.Decides() || a.Verdict == Nothing {
		return Reply{Stdout: []byte("{}\n")}
	}
	switch {
	case a.Input != nil && e.Hook != "preToolUse":
		a = Answer{Reason: "a person changed the arguments, which Cursor does not take here"}
	case a.Verdict == Ask && e.Hook == "beforeReadFile":
		a = Answer{Reason: "it needs approval, and Cursor has no prompt for it: " + a.Reason}
	case a.Verdict == Allow:
		a.Reason = "" // it would be shown each time
	}
	words := map[Verdict]string{Allow: "allow", Ask: "ask", Deny: "deny"}
	return printed(cursorDecision{Permission: words[a.Verdict], User: a.Reason, Agent: a.Reason, Input: a.Input})
}
