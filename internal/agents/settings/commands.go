package settings

import (
	"encoding/json"
	"fmt"
	"strings"
)

// deciding are the lists of hooks that decide about calls, by agent.
var deciding = map[string][]string{
	"claude-code": {"PreToolUse"}, "codex": {"PreToolUse"}, "gemini": {"BeforeTool"},
	"cursor": {"preToolUse", "beforeShellExecution", "beforeMCPExecution", "beforeReadFile"},
}

// A handler is an entry in the settings that has the agent start assent.
type handler struct {
	event        string
	group, index int   // where it is in the list of the event
	around       *node // the group, nil if there is none
	entry        *node
	argv         []string // as the agent starts it
}

// Commands returns the commands of assent's that the settings have the agent run before a
// tool, each as the agent starts it.
func (t Target) Commands(text []byte) ([][]string, error) {
	top, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("it cannot be read: %w", err)
	}
	var out [][]string
	for _, h := range t.handlers(text, &top, deciding[t.Agent.Name]) {
		out = append(out, h.argv)
	}
	return out, nil
}

// handlers returns the entries of ours in the lists of these events.
func (t Target) handlers(text []byte, top *node, events []string) (out []handler) {
	hooks := top.member("hooks")
	if hooks == nil {
		return nil
	}
	for _, event := range events {
		list := hooks.member(event)
		if list == nil {
			continue
		}
		for i := range list.items {
			group := &list.items[i]
			inner := group.member("hooks")
			if inner == nil {
				inner = &node{items: []node{*group}}
				group = nil
			}
			for j := range inner.items {
				h := handler{event: event, group: i, index: j, around: group, entry: &inner.items[j]}
				if h.argv = t.command(text, h.entry); h.argv != nil {
					out = append(out, h)
				}
			}
		}
	}
	return out
}

// command is what an entry starts, nil if that is not assent for this agent.
func (t Target) command(text []byte, entry *node) []string {
	c := entry.member("command")
	if c == nil {
		return nil
	}
	argv := commandAt(text, c, entry.member("args"))
	if words := strings.Join(argv, " "); !strings.Contains(words, "assent") || !strings.Contains(words, t.Agent.Name) {
		return nil
	}
	return argv
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
