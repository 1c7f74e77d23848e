// Package doors explains a call as the door would answer that it comes through: our own, which all
// stand on one base, or the hook of another agent.
package doors

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/assent-dev/assent/internal/agents"
	"github.com/assent-dev/assent/internal/agents/foreign"
	"github.com/assent-dev/assent/internal/agents/hook"
	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/explain"
	"github.com/assent-dev/assent/internal/setup"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/shell/analysis"
)

// Ours explains calls of our own doors, which all stand on the same base.
func Ours(ctx context.Context, s *setup.Setup, do func(*explain.Explainer) error) error {
	base, err := open.Open(ctx, s, open.Order{Use: open.Look, Held: s.HasShell})
	if err != nil {
		return err
	}
	defer base.Close()
	e, closing, err := base.Explainer(ctx)
	if err != nil {
		return err
	}
	defer closing()
	return do(e)
}

// Theirs explains a call of another agent.
func Theirs(ctx context.Context, agent *agents.Agent, state string, call explain.Call) (explain.Answer, error) {
	o, err := hook.Here(agent, state)
	if err != nil {
		return explain.Answer{}, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return explain.Answer{}, err
	}
	event, err := agent.Sample(dir, call.Tool, call.Args)
	if err != nil {
		return explain.Answer{}, err
	}
	o.Sandbox = sandboxNow(o.Places)
	o.Exits, o.Environ, o.Look = false, append(o.Environ, agent.Variables(dir)...), lookOnStage
	return hook.Explain(ctx, o, event)
}

// lookOnStage explains a command of another agent that its keeper would judge and run.
func lookOnStage(ctx context.Context, s *setup.Setup, command, dir string) (answer explain.Answer, ok bool, err error) {
	base, err := open.Open(ctx, s, open.Order{Use: open.Look, Held: true})
	if err != nil {
		return answer, false, err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	if base.Sandbox.Missing() {
		return answer, false, nil
	}
	set, err := s.Roots()
	if err != nil {
		return answer, false, err
	}
	defer set.Close()
	args, err := foreign.Located(set, command, dir)
	if err != nil {
		return explain.Failed(err), true, nil
	}
	e, closing, err := base.Explainer(ctx)
	if err != nil {
		return answer, false, err
	}
	answer = e.Judge(ctx, policy.Call{Tool: policy.ActShell, Arguments: args})
	if answer.Outcome != explain.Deny {
		answer.Undo = e.Undoing(ctx, args)
	}
	return answer, true, closing()
}

// sandboxNow says why no sandbox works here, as it is noted or else found out now.
func sandboxNow(places setup.Places) func(context.Context) string {
	return func(ctx context.Context) string {
		if why, known, _ := places.SandboxNoted(); known {
			return why
		}
		why, err := open.TrySandbox(ctx, places)
		if err != nil {
			return err.Error()
		}
		return why
	}
}

// ReadCall reads a call from the command line: NAME(ARGUMENT), NAME ARGUMENTS, or a shell
// command. Owner is the agent that has the tool, if it is none of ours.
func ReadCall(args []string, s *setup.Setup) (call explain.Call, owner *agents.Agent) {
	if len(args) == 1 {
		if name, rest, ok := strings.Cut(args[0], "("); ok && strings.HasSuffix(rest, ")") {
			if owner, known := toolNamed(name, s); known {
				return CallOf(name, strings.TrimSuffix(rest, ")")), owner
			}
		}
	}
	if len(args) == 2 {
		owner, known := toolNamed(args[0], s)
		object := json.Valid([]byte(args[1])) && strings.HasPrefix(strings.TrimSpace(args[1]), "{")
		if known || object {
			return CallOf(args[0], args[1]), owner // no command takes an object
		}
	}
	return CallOf(policy.ActShell, CommandText(args)), nil
}

// CommandText is the command that arguments stand for: one argument is a text for a shell,
// several are its words.
func CommandText(args []string) string {
	if len(args) == 1 {
		return args[0]
	}
	return analysis.QuoteWords(args)
}

// toolNamed reports whether a tool of the name is known here, and whose it is if it is one
// that only another agent has.
func toolNamed(name string, s *setup.Setup) (owner *agents.Agent, known bool) {
	if slices.Contains(config.BuiltinTools(), name) {
		return nil, true
	}
	for _, t := range s.CustomTools {
		if t.Name == name {
			return nil, true
		}
	}
	connector, tool, _ := strings.Cut(name, ":")
	if connector != "" && tool != "" && !strings.ContainsAny(name, " /") {
		return nil, true
	}
	for _, a := range agents.All() {
		if a.Has(name) {
			return a, true
		}
	}
	return nil, false
}

// mainArgument is the argument that matters most of tools whose arguments a person may write
// as one word.
var mainArgument = map[string]string{
	"read_file": "path", "write_file": "path", "delete_file": "path", "edit_file": "path", "list_files": "path",
	"make_dir": "path", "file_info": "path", "http_request": "url", "shell": "command",
	"Bash": "command", "Shell": "command", "run_shell_command": "command", "local_shell": "command",
	"shell_command": "command", "exec_command": "cmd",
	"Read": "file_path", "Write": "file_path", "Edit": "file_path", "replace": "file_path", "Delete": "file_path",
	"WebFetch": "url",
}

// CallOf reads the call from the command line; a text that is not a JSON object is the
// argument that matters. A command may begin with a brace.
func CallOf(name, args string) explain.Call {
	argument := mainArgument[name]
	command := argument == "command" || argument == "cmd"
	if argument == "" || strings.HasPrefix(strings.TrimSpace(args), "{") && (!command || json.Valid([]byte(args))) {
		return explain.Call{Tool: name, Args: json.RawMessage(args)}
	}
	given := map[string]string{argument: args}
	switch name {
	case "Write", "write_file":
		given["content"] = ""
	case "Edit", "replace", "edit_file":
		given["old_string"], given["new_string"] = "", ""
	}
	data, err := json.Marshal(given)
	if err != nil {
		return explain.Call{Tool: name, Args: json.RawMessage(args)}
	}
	return explain.Call{Tool: name, Args: data}
}
