package connector

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// callParams are the parameters of a call of a tool.
type callParams struct {
	name      string
	arguments json.RawMessage // canonical: what was judged is what is sent
	given     map[string]any  // what the caller says about the call
	token     string          // under which progress is told; empty for none
	asks      bool            // the user of the agent can be asked
	responses map[string]any  // answers to what the server asked in its last result
	state     string          // and what it wants to be told again
}

// ours begins the keys in which each message of the newer protocol says who sends it. What
// a caller says there is about the connection between the caller and us.
const ours = "io.modelcontextprotocol/"

// meta returns what is said about the call.
func (p callParams) meta() mcp.Meta {
	out := mcp.Meta{}
	for key, value := range p.given {
		if key != "progressToken" && !strings.HasPrefix(key, ours) {
			out[key] = value
		}
	}
	if p.token != "" {
		out["progressToken"] = p.token
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// encode writes the parameters. For a server of the newer protocol they say who calls, and
// what can be asked of us.
func (p callParams) encode(newer bool) (json.RawMessage, error) {
	meta := p.meta()
	if newer {
		if meta == nil {
			meta = mcp.Meta{}
		}
		meta[mcp.MetaKeyProtocolVersion], meta[mcp.MetaKeyClientInfo] = stateless, identity
		meta[mcp.MetaKeyClientCapabilities] = p.capabilities()
	}
	name, err := json.Marshal(p.name)
	if err != nil {
		return nil, err
	}
	out := append([]byte(`{"name":`), name...)
	out = append(append(out, `,"arguments":`...), p.arguments...)
	add := func(member string, value any) {
		data, failed := json.Marshal(value)
		err = errors.Join(err, failed)
		out = append(append(append(append(out, `,"`...), member...), `":`...), data...)
	}
	if meta != nil {
		add("_meta", meta)
	}
	if p.responses != nil {
		add("inputResponses", p.responses)
	}
	if p.state != "" {
		add("requestState", p.state)
	}
	return append(out, '}'), err
}

// capabilities are what a server of the newer protocol may ask for in the result of a call.
func (p callParams) capabilities() any {
	if !p.asks {
		return struct{}{}
	}
	return map[string]any{"elicitation": map[string]any{"form": struct{}{}}}
}
