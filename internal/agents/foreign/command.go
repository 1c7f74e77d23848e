package foreign

import (
	"context"
	"encoding/json"
	"path"
	"strings"

	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/roots"
)

// A command is the shell of another agent: it runs in a folder of the host.
type command struct{ opts Options }

type commandArgs struct {
	Command string `json:"command"`
	Cwd     string `json:"cwd,omitempty"`
}

// Spec implements [tool.Tool].
func (c command) Spec() tool.Spec { return tool.Spec{Name: "shell"} }

// Prepare implements [tool.Tool].
func (c command) Prepare(ctx context.Context, args json.RawMessage) (tool.Action, error) {
	if c.opts.Shell == nil {
		return tool.Block("the policy has no shell"), nil
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
	inner, err := Located(c.opts.Roots, in.Command, in.Cwd)
	if err != nil {
		return tool.Block(err.Error()), nil
	}
	return c.opts.Shell.Prepare(ctx, inner)
}

// Located are the arguments of our own shell tool for a command in a folder of the host. In a
// folder outside of all roots it begins with the way there, which the analysis follows like any
// other.
func Located(set *roots.Set, text, dir string) (json.RawMessage, error) {
	place, inside, err := set.ResolveHost(dir)
	if err != nil {
		return nil, err
	}
	in := commandArgs{Command: text}
	if name := place.Resolved(); inside && !path.IsAbs(name) {
		in.Cwd = name
	} else {
		in.Command = "cd -- '" + strings.ReplaceAll(dir, "'", `'\''`) + "' && {\n" + text + "\n}"
	}
	return json.Marshal(in)
}
