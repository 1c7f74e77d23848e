package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
)

// A Want is the call that an agent wants, under our names.
type Want struct {
	// Call has our name for the tool, and arguments as package foreign takes them.
	Call policy.Call
	// Also are the other names that the tool may have, where the agent's name for it can be
	// read in several ways.
	Also []ToolName
	// Own says that the tool touches nothing but the agent's own conversation.
	Own bool
	// Person, if not empty, is why only a person may allow the call: no rule was meant for it.
	Person string

	// edit and ours are the arguments, in the agent's input and in our call, that a
	// person may change as text; empty if there is none.
	edit, ours string
}

// A ToolName names a tool of a server.
type ToolName struct{ Connector, Tool string }

// A translator makes our call of an agent's arguments. Paths become absolute.
type translator func(in object, dir string) (Want, error)

// Call says what the event wants, under our names. A tool that is not known is one of
// a connector that has the agent's name.
func (a *Agent) Call(e Event) (Want, error) {
	in, err := readObject(e.Input, "the arguments")
	if err != nil {
		return Want{}, err
	}
	w, err := a.translate(e, in)
	if err != nil {
		return Want{}, fmt.Errorf("%s: %w", e.Tool, err)
	}
	if a.asksToLeave && e.Moment == Asking && w.Call.Connector == "" && w.Call.Tool == policy.ActShell {
		w.Person = leaves
	}
	w.Call.Session, w.Call.ID = e.Session, e.CallID
	return w, nil
}

func (a *Agent) translate(e Event, in object) (Want, error) {
	if e.Server != "" {
		return foreignCall(e.Server, e.Tool, e.Input), nil
	}
	if rest, ok := strings.CutPrefix(e.Tool, "mcp__"); ok {
		names := toolNames(rest)
		if len(names) == 0 {
			return Want{}, fmt.Errorf("invalid name of a server's tool %q: it has the form mcp__SERVER__TOOL", e.Tool)
		}
		w := foreignCall(names[0].Connector, names[0].Tool, e.Input)
		w.Also = names[1:]
		return w, nil
	}
	t := a.tools[e.Tool]
	if t == nil {
		return foreignCall(a.Name, e.Tool, e.Input), nil
	}
	w, err := t(in, e.Dir)
	if own := w.Own; w.Call.Tool == "" && err == nil {
		w = foreignCall(a.Name, e.Tool, e.Input)
		w.Own = own
	}
	return w, err
}

// leaves is why a person is asked about a command outside the agent's sandbox.
const leaves = "the agent wants to run it outside its own sandbox, and rules allow it inside only"

// toolNames are all that SERVER__TOOL may mean: a server or a tool may have __ in its name.
func toolNames(name string) (out []ToolName) {
	for i := 1; i+2 < len(name); i++ {
		if name[i:i+2] == "__" {
			out = append(out, ToolName{name[:i], name[i+2:]})
		}
	}
	return out
}

func foreignCall(connector, name string, input json.RawMessage) Want {
	return Want{Call: policy.Call{Connector: connector, Tool: name, Arguments: input}}
}

// Changed returns the agent's arguments with what a person changed in ours. Not every
// change can be told to the agent.
func (w Want) Changed(e Event, arguments json.RawMessage) (json.RawMessage, error) {
	was, err := readObject(w.Call.Arguments, "the arguments")
	if err != nil {
		return nil, err
	}
	now, err := readObject(arguments, "the changed arguments")
	if err != nil {
		return nil, err
	}
	text, changed := now[w.ours]
	if w.edit == "" || !changed {
		return nil, errors.New("a person changed the arguments, and the agent takes no other ones here")
	}
	now[w.ours] = was[w.ours]
	if same, err := sameObject(was, now); err != nil || !same {
		return nil, errors.Join(err, fmt.Errorf("a person changed more than %s, and the agent takes nothing else", w.ours))
	}
	in, err := readObject(e.Input, "the arguments")
	if err != nil {
		return nil, err
	}
	in[w.edit] = text
	return json.Marshal(in)
}

func sameObject(a, b object) (bool, error) {
	x, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	y, err := json.Marshal(b)
	if err != nil {
		return false, err
	}
	if x, err = canonical.Arguments(x); err != nil {
		return false, err
	}
	y, err = canonical.Arguments(y)
	return string(x) == string(y), err
}

// ours returns a call of one of our tools.
func ours(tool string, args any) (Want, error) {
	data, err := json.Marshal(args)
	if err != nil {
		return Want{}, err
	}
	return Want{Call: policy.Call{Tool: tool, Arguments: data}}, nil
}

// absolute returns the path that an agent means by a path.
func absolute(path, dir string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", errors.New("a path has a NUL")
	}
	if filepath.IsAbs(path) {
		return path, nil
	}
	if path == "~" || strings.HasPrefix(path, "~") {
		return "", fmt.Errorf("%q begins with a tilde, which this tool does not expand for certain; write the whole path", path)
	}
	if dir == "" {
		return "", fmt.Errorf("%q is relative, and nothing says to which folder", path)
	}
	return dir + "/" + path, nil // not cleaned: .. after a link is not what it seems
}
