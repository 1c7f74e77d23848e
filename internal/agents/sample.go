package agents

import (
	"encoding/json"
	"errors"
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
		patch := "*** Begin Patch\n*** Add File: " + file + "\n+" + lines + "\n*** End Patch\n"
		return "apply_patch", map[string]any{"command": patch}
	}
	return a.like[policy.ActWriteFile], map[string]any{"file_path": file, "content": content}
}

// event is what the agent sends before it runs one of its tools in a folder.
func (a *Agent) event(dir, tool string, args any) map[string]any {
	e := map[string]any{
		"session_id": ownSession, "cwd": dir, "tool_use_id": ownSession, "hook_event_name": "PreToolUse",
		"tool_name": tool, "tool_input": args,
	}
	switch a {
	case &gemini:
		e["hook_event_name"] = "BeforeTool"
	case &cursor:
		e["hook_event_name"], e["conversation_id"], e["workspace_roots"] = "preToolUse", ownSession, []string{dir}
	}
	return e
}

// CanaryDenied is the file that a canary wants to write and that the policy beside it
// denies; CanaryFile is one that it may read, and must ask to write.
const (
	CanaryDenied = "assent-canary-denied.txt"
	CanaryFile   = "assent-canary.txt"
)

// A Canary is an event that nobody's tool runs after: it shows what a hook answers.
type Canary struct {
	Name  string
	Want  Verdict
	Input []byte
}

// Canaries are a call that must be allowed, one that must be asked and one that must be
// denied, in a folder, as the agent would send them.
func (a *Agent) Canaries(dir string) ([]Canary, error) {
	var out []Canary
	for _, c := range []struct {
		name  string
		want  Verdict
		write bool
		file  string
	}{
		{"a read in the project", Allow, false, CanaryFile},
		{"a write in the project", Ask, true, CanaryFile},
		{"a write that is denied", Deny, true, CanaryDenied},
	} {
		tool, args := a.canary(dir+"/"+c.file, c.write)
		input, err := json.Marshal(a.event(dir, tool, args))
		if err != nil {
			return nil, fmt.Errorf("a canary for %s: %w", a.Title, err)
		}
		out = append(out, Canary{c.name, c.want, append(input, '\n')})
	}
	return out, nil
}

// canary is a call about a file.
func (a *Agent) canary(file string, write bool) (tool string, args any) {
	if write {
		return a.write(file, "canary\n")
	}
	return a.like["read_file"], map[string]any{"file_path": file}
}

// Understood says what an agent makes of a reply: the verdict, as far as it can be told.
// Codex takes no opinion for a yes, and what it must ask is a no there.
func (a *Agent) Understood(r Reply) (Verdict, error) {
	if r.Exit == exitBlock {
		return Deny, nil
	}
	if r.Exit != 0 {
		return Nothing, fmt.Errorf("it ended with status %d, which lets the call run", r.Exit)
	}
	if len(r.Stdout) == 0 {
		return Nothing, errors.New("it gave no answer")
	}
	o, err := readObject(r.Stdout, "the answer")
	if err != nil {
		return Nothing, err
	}
	if inner, ok := o["hookSpecificOutput"]; ok {
		if o, err = readObject(inner, "the answer"); err != nil {
			return Nothing, err
		}
	}
	word, err := o.optional("permissionDecision", "decision", "permission")
	switch {
	case err != nil:
		return Nothing, err
	case word == "deny":
		return Deny, nil
	case word == "ask":
		return Ask, nil
	case word == "allow", word == "" && a == &codex:
		return Allow, nil
	}
	return Nothing, errors.New("it gave no answer")
}
