package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 servers still ask for the client's model

// maxRounds is how often a server of the newer protocol may answer a call with questions.
const maxRounds = 10

// inputRequired is the kind of a result that is no result yet: it says what the server needs
// to know before it goes on.
const inputRequired = "input_required"

// questions are what a server of the newer protocol answers a call with instead of a result.
type questions struct {
	Kind   string              `json:"resultType"`
	Inputs mcp.InputRequestMap `json:"inputRequests"`
	State  string              `json:"requestState"`
}

// callInRounds makes a call, and makes it again with answers as long as the server asks. Only
// servers of the newer protocol do; others send requests of their own.
func (c *Connector) callInRounds(ctx context.Context, s *session, p callParams) (json.RawMessage, error) {
	for range maxRounds {
		raw, err := s.call(ctx, p)
		if err != nil || s.process == nil || s.InitializeResult().ProtocolVersion < stateless {
			return raw, err
		}
		var asked questions
		if json.Unmarshal(raw, &asked) != nil || asked.Kind != inputRequired {
			return raw, nil // it is read with care by who wanted it
		}
		if p.responses, err = c.answer(ctx, asked.Inputs); err != nil {
			return nil, err
		}
		p.state = asked.State
	}
	return nil, fmt.Errorf("connector %s asked %d times before it answered; it is given up", c.cfg.Name, maxRounds)
}

// answer has the agent's user or model answer what a server asks, one after another.
func (c *Connector) answer(ctx context.Context, asked mcp.InputRequestMap) (map[string]any, error) {
	out := make(map[string]any, len(asked))
	for _, id := range slices.Sorted(maps.Keys(asked)) {
		var err error
		switch p := asked[id].(type) {
		case *mcp.ElicitParams:
			if c.opts.Elicit == nil {
				return nil, errors.New("the server asks the user, and no client is there to ask")
			}
			out[id], err = c.opts.Elicit(ctx, c.cfg.Name, p)
		default:
			err = fmt.Errorf("the server asks for %T, which it was not offered", p)
		}
		if err != nil {
			return nil, fmt.Errorf("what connector %s asks was not answered: %w", c.cfg.Name, err)
		}
	}
	return out, nil
}
