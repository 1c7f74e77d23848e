package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool/connector"
)

// clientUsers are the people at the clients, by their session. Asked, they can answer once; the
// answer comes by way of the agent's own program, and is worth no more than that.
type clientUsers struct {
	mu sync.Mutex
	by map[string]*mcp.ServerSession
}

func newClientUsers() *clientUsers { return &clientUsers{by: map[string]*mcp.ServerSession{}} }

var _ approval.Approver = (*clientUsers)(nil)

func (p *clientUsers) enter(session string, at *mcp.ServerSession) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.by[session] = at
}

func (p *clientUsers) leave(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.by, session)
}

func (p *clientUsers) find(session string) (*mcp.ServerSession, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.by[session]; at != nil {
		return at, nil
	}
	return nil, errors.New("the client has disconnected")
}

// only returns the only client there is, if there is only one.
func (p *clientUsers) only() (*mcp.ServerSession, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, at := range p.by {
		if len(p.by) == 1 {
			return at, nil
		}
	}
	return nil, errors.New("unknown which client's user to ask")
}

// answerSchema is the form that a client shows.
var answerSchema = map[string]any{
	"type": "object",
	"properties": map[string]any{
		"answer": map[string]any{"type": "string", "enum": []string{"deny", "approve"}, "title": "Answer",
			"description": "approve: run exactly this call, once"},
		"note": map[string]any{"type": "string", "title": "Note for the agent"},
	},
	"required": []string{"answer"},
}

// Approve asks the user of the client. Only the word approve, given in so many letters, is
// a yes; a client that closes the question without one leaves it to others.
func (p *clientUsers) Approve(ctx context.Context, r *approval.Request) (approval.Decision, error) {
	if r.PersonOnly {
		return approval.Decision{}, errors.New("this cannot be answered in the agent's own client")
	}
	message, err := question(ctx, r)
	if err != nil {
		return approval.Decision{}, err
	}
	answer, err := p.elicit(ctx, r.Call.Session, &mcp.ElicitParams{Message: message, RequestedSchema: answerSchema})
	if err != nil {
		return approval.Decision{}, err
	}
	d := r.Deny("")
	switch answer.Action {
	case "accept":
		note, _ := answer.Content["note"].(string)
		if d = r.Deny(note); answer.Content["answer"] == "approve" {
			d = r.Approve(note)
		}
	case "decline":
	default:
		return approval.Decision{}, errors.New("the client closed the question without an answer")
	}
	d.By.Via = policy.ViaElicitation
	return d, nil
}

// elicit asks the user of the client, in the way that its version of the protocol knows.
func (p *clientUsers) elicit(ctx context.Context, session string, params *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	if h := heldIn(ctx); h != nil {
		if c, _ := h.current(); c.rounds {
			answer, err := h.inquire(ctx, params)
			return elicited(answer, err)
		}
	}
	at, err := p.find(session)
	if err != nil {
		return nil, err
	}
	return at.Elicit(ctx, params)
}

// elicited is an answer to an elicitation.
func elicited(answer mcp.InputResponse, err error) (*mcp.ElicitResult, error) {
	if err != nil {
		return nil, err
	}
	result, ok := answer.(*mcp.ElicitResult)
	if !ok || result == nil {
		return nil, fmt.Errorf("the client answered an elicitation with %T", answer)
	}
	return result, nil
}

// question is a request as text.
func question(ctx context.Context, r *approval.Request) (string, error) {
	view, err := r.View(ctx)
	if err != nil {
		return "", err
	}
	cut := view.Cut(present.DefaultLimit())
	text := fmt.Sprintf("Allow this? %s\nIt asks because: %s\n", present.SafeLine(r.Summary),
		present.SafeLine(r.Why))
	for _, f := range cut.View.Facts {
		text += fmt.Sprintf("%s: %s\n", present.SafeLine(f.Name()), present.SafeLine(f.Value()))
	}
	text += "\n" + present.Safe(cut.View.Content) + "\n"
	if note := cut.Note(); note != "" {
		return "", errors.New("it is too long to show in a client: " + note)
	}
	return text, nil
}

// elicit passes on what a connector wants to know, with its name: a client's user must not
// take a stranger's question for ours.
func (g *Gateway) elicit(ctx context.Context, from string, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	asked := *p
	asked.Meta = nil
	asked.Message = fmt.Sprintf("Connector %s asks: %s", from, present.Safe(p.Message))
	answer, err := g.speak(ctx, from, connector.Elicit, params{Message: p.Message},
		func(ctx context.Context) (mcp.InputResponse, error) {
			return g.inquire(ctx, from, &asked, func(ctx context.Context, at *mcp.ServerSession) (mcp.InputResponse, error) {
				return at.Elicit(ctx, &asked)
			})
		})
	return elicited(answer, err)
}
