package agents

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/assent-dev/assent/policy"
)

// ownSession is the session of events that assent makes itself.
const ownSession = "assent-verify"

// Has reports whether a tool is one that the agent offers its model, by the agent's own name.
func (a *Agent) Has(tool string) bool {
	return a.tools[tool] != nil || strings.HasPrefix(tool, "mcp__")
}

// Sample is what the agent sends before it runs a tool in a folder. The tool goes by the
// agent's own name, as CONNECTOR:NAME, or by our name if the agent has one that does the same;
// relative paths are relative to the folder.
func (a *Agent) Sample(dir, tool string, args json.RawMessage) ([]byte, error) {
	if connector, name, ok := strings.Cut(tool, ":"); ok {
		e := a.event(dir, "mcp__"+connector+"__"+name, args)
		if a == &gemini {
			e["mcp_context"] = map[string]string{"server_name": connector, "tool_name": name}
		}
		return json.Marshal(e)
	}
	if a.Has(tool) { // also where it is called as one of ours: the agent's own arguments differ
		return json.Marshal(a.event(dir, tool, args))
	}
	theirs, given, err := a.translated(dir, tool, args)
	if err != nil {
		return nil, err
	}
	return json.Marshal(a.event(dir, theirs, given))
}

// translated is the agent's call for one of ours.
func (a *Agent) translated(dir, tool string, args json.RawMessage) (theirs string, given any, err error) {
	in, err := readObject(args, "the arguments")
	if err != nil {
		return "", nil, err
	}
	theirs = a.like[tool]
	if theirs == "" && !(a == &codex && tool == policy.ActWriteFile) {
		return "", nil, fmt.Errorf("%s has no tool that does what %s does", a.Title, tool)
	}
	switch tool {
	case policy.ActShell:
		command, err := in.text("command")
		return theirs, map[string]any{"command": command}, err
	case policy.ActHTTPRequest:
		url, err := in.text("url")
		return theirs, map[string]any{"url": url, "prompt": "What does it say?"}, err
	}
	path, err := in.text("path")
	if err != nil {
		return "", nil, err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if tool == policy.ActReadFile {
		return theirs, map[string]any{"file_path": path}, nil
	}
	content, err := in.given("content")
	theirs, given = a.write(path, content)
	return theirs, given, err
}

// write is the agent's call that makes a file.
func (a *Agent) write(file, content string) (tool string, args any) {
	if a == &codex {
		lines := strings.ReplaceAll(strings.TrimSuffix(content, "\n"), "\n", "\n+")
		return "apply_patch", map[string]any{"command": "*** Begin Patch\n*** Add File: " + file + "\n+" + lines + "\n*** End Patch\n"}
	}
	return a.like[policy.ActWriteFile], map[string]any{"file_path": file, "content": content}
}

// event is what the agent sends before it runs one of its tools in a folder.
func (a *Agent) event(dir, tool string, args any) map[string]any {
	e := map[string]any{
		"session_id": ownSession, "cwd": dir, "tool_use_id": ownSession, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": args,
	}
	switch a {
	case &gemini:
		e["hook_event_name"] = "BeforeTool"
	case &cursor:
		e["hook_event_name"], e["conversation_id"], e["workspace_roots"] = "preToolUse", ownSession, []string{dir}
	}
	return e
}
