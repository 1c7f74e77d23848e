package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/assent-dev/assent/internal/canonical"
)

// An Expectation is a call, and what must happen to it under the policy of its file.
type Expectation struct {
	// Call is as it is written: TOOL(TARGET) or TOOL {JSON}.
	Call string
	// Tool and Args are what it means.
	Tool string
	Args json.RawMessage
	// Outcome is allow, ask or deny.
	Outcome string
	Source  string
}

// expectations reads CALL: OUTCOME, or a list of "OUTCOME CALL".
func (r *report) expectations(n ast.Node) []Expectation {
	if _, isList := n.(*ast.SequenceNode); !isList {
		var out []Expectation
		for _, e := range r.entries(n, "expect") {
			out = append(out, r.expectation(e.key, e.name, r.text(e.value, "expect: "+e.name)))
		}
		return out
	}
	var out []Expectation
	for _, item := range r.items(n, "expect") {
		outcome, call, _ := strings.Cut(strings.TrimSpace(r.text(item, "expect")), " ")
		out = append(out, r.expectation(item, strings.TrimSpace(call), outcome))
	}
	return out
}

func (r *report) expectation(n ast.Node, call, outcome string) Expectation {
	e := Expectation{Call: call, Outcome: outcome, Source: r.source(n)}
	if outcome != "allow" && outcome != "ask" && outcome != "deny" {
		r.problem(n, "expect: unknown outcome %q; write allow, ask or deny", outcome)
	}
	var err error
	if e.Tool, e.Args, err = parseCall(call); err != nil {
		r.problem(n, "expect: %v", err)
	}
	return e
}

// targets say which argument the target of a built-in tool is, and what else it needs.
var targets = map[string]func(target string) map[string]any{
	"shell":        func(t string) map[string]any { return map[string]any{"command": t} },
	"read_file":    pathArgument,
	"list_files":   pathArgument,
	"file_info":    pathArgument,
	"delete_file":  pathArgument,
	"make_dir":     pathArgument,
	"write_file":   func(t string) map[string]any { return map[string]any{"path": inHome(t), "content": "example\n"} },
	"worker_call":  func(t string) map[string]any { return map[string]any{"worker": t, "input": ""} },
	"http_request": requestArguments,
}

func pathArgument(t string) map[string]any { return map[string]any{"path": inHome(t)} }

// inHome puts the home folder in the place of ~ and $HOME, as rules do.
func inHome(path string) string {
	home, err := homeFolder()
	for _, word := range []string{"~", "$HOME", "${HOME}"} {
		if rest, ok := strings.CutPrefix(path, word); ok && err == nil && (rest == "" || rest[0] == '/') {
			return home + rest
		}
	}
	return path
}

func requestArguments(t string) map[string]any {
	method, address, ok := strings.Cut(t, " ")
	if !ok {
		method, address = "GET", t
	}
	return map[string]any{"method": method, "url": address}
}

// parseCall reads TOOL(TARGET) or TOOL {JSON}.
func parseCall(text string) (name string, args json.RawMessage, err error) {
	if name, rest, ok := strings.Cut(text, " "); ok && strings.HasPrefix(strings.TrimSpace(rest), "{") {
		args, err := canonical.Arguments(json.RawMessage(rest))
		if err != nil {
			err = fmt.Errorf("the arguments of %s: %w", name, err)
		}
		return name, args, err
	}
	name, rest, ok := strings.Cut(text, "(")
	target, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed || name == "" || target == "" {
		return "", nil, fmt.Errorf("%q is not a call; write TOOL(TARGET), such as shell(git status), or TOOL {\"argument\": …}", text)
	}
	arguments := targets[name]
	if arguments == nil {
		return "", nil, fmt.Errorf("%s takes several arguments, so the meaning of %q is unclear; write %s {\"argument\": …}", name,
			target, name)
	}
	data, err := json.Marshal(arguments(target))
	if err != nil {
		return "", nil, err
	}
	args, err = canonical.Arguments(data)
	return name, args, err
}
