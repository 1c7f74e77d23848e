package foreign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/files"
	"github.com/assent-dev/assent/tool/hosts"
	"github.com/assent-dev/assent/tool/roots"
	"github.com/assent-dev/assent/tool/shell"
)

// Options are what the tools look at.
type Options struct {
	Roots *roots.Set
	Hosts hosts.Policy
	// Shell judges commands; nil means that none is judged, and all are refused.
	Shell *shell.Tool
	// Within says that Shell judges commands for every folder of the project that they may run
	// in. Otherwise a command whose folder is not known is refused.
	Within bool
	// Denied reports whether reading is denied by something that the roots do not know,
	// such as a rule. May be nil.
	Denied func(context.Context, policy.Act) bool
	// Changing, if not nil, is told each time that a call is prepared which files the agent
	// would change, each once.
	Changing func([]files.Foreseen)
}

// For returns the tool that a call names, as another agent has it. Free says that it
// touches nothing but the agent's own conversation.
func For(call policy.Call, free bool, opts Options) tool.Tool {
	if call.Connector != "" {
		return unknownTool{connector: call.Connector, name: call.Tool, free: free}
	}
	f := judge{opts}
	switch call.Tool {
	case policy.ActShell:
		return command{opts}
	case policy.ActHTTPRequest:
		return onHost(call.Tool, f.fetch)
	case "read_file":
		return onHost(call.Tool, f.read)
	case "list_files":
		return onHost(call.Tool, f.list)
	case "search_files":
		return onHost(call.Tool, f.search)
	case "write_file":
		return onHost(call.Tool, f.write)
	case "edit_file":
		return onHost(call.Tool, f.change)
	case "delete_file":
		return onHost(call.Tool, f.remove)
	}
	return unknownTool{name: call.Tool}
}

// errElsewhere is what the body of every tool here comes to: it is the agent that runs it.
var errElsewhere = errors.New("the agent runs this by itself")

func elsewhere(context.Context) (any, error) { return nil, errElsewhere }

// A hostTool is one with its arguments in a struct.
type hostTool[In any] struct {
	name    string
	prepare func(context.Context, In) (tool.Action, error)
}

func onHost[In any](name string, prepare func(context.Context, In) (tool.Action, error)) tool.Tool {
	return hostTool[In]{name, prepare}
}

// Spec implements [tool.Tool].
func (t hostTool[In]) Spec() tool.Spec { return tool.Spec{Name: t.name} }

// Prepare implements [tool.Tool]. What the roots refuse is blocked.
func (t hostTool[In]) Prepare(ctx context.Context, args json.RawMessage) (tool.Action, error) {
	var in In
	if err := json.Unmarshal(args, &in); err != nil {
		return tool.Action{}, &tool.ArgumentError{Tool: t.name, Err: err}
	}
	a, err := t.prepare(ctx, in)
	var refusal *roots.Refusal
	if errors.As(err, &refusal) {
		return tool.Block(refusal.Why), nil
	}
	return a, err
}

// An unknownTool is a tool of which nothing is known but its name.
type unknownTool struct {
	connector, name string
	free            bool
}

// Spec implements [tool.Tool].
func (s unknownTool) Spec() tool.Spec { return tool.Spec{Connector: s.connector, Name: s.name} }

// Prepare implements [tool.Tool].
func (s unknownTool) Prepare(context.Context, json.RawMessage) (tool.Action, error) {
	if s.free {
		return tool.Free(elsewhere).Because("it touches nothing but the agent's own conversation"), nil
	}
	why := fmt.Sprintf("nothing is known about what %s does", s.Spec().FullName())
	return tool.Ask(elsewhere).Because(why), nil
}
