package settings

import (
	"encoding/json"
	"fmt"
	"strings"
)

// deciding are the lists of hooks that decide about calls, by agent.
var deciding = map[string][]string{
	"claude-code": {"PreToolUse"}, "codex": {"PreToolUse"}, "gemini": {"BeforeTool"}, "cursor": {"preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"},
}

// Commands returns the commands of assent's that the settings have the agent run before a
// tool, each as the agent starts it.
func (t Target) Commands(text []byte) ([][]string, error) {
	top, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	hooks := top.member("hooks")
	if hooks == nil {
		return nil, nil
	}
	var out [][]string
	for _, name := range deciding[t.Agent.Name] {
		if list := hooks.member(name); list != nil {
			out = append(out, commandsIn(text, list, t.Agent.Name)...)
		}
	}
	return out, nil
}

// commandsIn returns the commands in a part of the settings that name the agent to us.
func commandsIn(text []byte, n *node, agent string) (out [][]string) {
	if c := n.member("command"); c != nil {
		if argv := commandAt(text, c, n.member("args")); strings.Contains(strings.Join(argv, " "), "assent") &&
			strings.Contains(strings.Join(argv, " "), agent) {
			out = append(out, argv)
		}
	}
	for i := range n.items {
		out = append(out, commandsIn(text, &n.items[i], agent)...)
	}
	if inner := n.member("hooks"); inner != nil {
		out = append(out, commandsIn(text, inner, agent)...)
	}
	return out
}

// commandAt is what is started: a program with its arguments, or a text for a shell.
func commandAt(text []byte, command, args *node) []string {
	var program string
	var words []string
	if json.Unmarshal(text[command.start:command.end], &program) != nil {
		return nil
	}
	if args == nil {
		return []string{"/bin/sh", "-c", program + ` "$@"`, "sh"}
	}
	if json.Unmarshal(text[args.start:args.end], &words) != nil {
		return nil
	}
	return append([]string{program}, words...)
}
