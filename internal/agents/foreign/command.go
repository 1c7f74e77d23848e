package foreign

import (
	"context"
	"encoding/json"
	"path"
	"strings"

	"github.com/assent-dev/assent/tool"
)

// A command is the shell of another agent: it runs in a folder of the host.
type command struct{ opts Options }

type commandArgs struct {
	Command string `json:"command"`
	Cwd     string `json:"cwd"`
}

// Spec implements [tool.Tool].
func (c command) Spec() tool.Spec { return tool.Spec{Name: "shell"} }

// Prepare implements [tool.Tool].
func (c command) Prepare(ctx context.Context, args json.RawMessage) (tool.Action, error) {
	if c.opts.Shell == nil {
		return tool.Block("there is no shell in the policy"), nil
	}
	var in commandArgs
	if err := json.Unmarshal(args, &in); err != nil {
		return tool.Action{}, &tool.ArgumentError{Tool: "shell", Err: err}
	}
	if in.Cwd == "" {
		if !c.opts.Within {
			return tool.Block("the folder that the command runs in is not known"), nil
		}
		return c.opts.Shell.Prepare(ctx, args)
	}
	place, inside, err := c.opts.Roots.ResolveHost(in.Cwd)
	if err != nil {
		return tool.Block(err.Error()), nil
	}
	if name := place.Resolved(); inside && !path.IsAbs(name) {
		in.Cwd = name
	} else {
		// The analysis follows the change of folder like any other.
		in.Command = "cd -- '" + strings.ReplaceAll(in.Cwd, "'", `'\''`) + "' && {\n" + in.Command + "\n}"
		in.Cwd = ""
	}
	inner, err := json.Marshal(in)
	if err != nil {
		return tool.Action{}, err
	}
	return c.opts.Shell.Prepare(ctx, inner)
}
