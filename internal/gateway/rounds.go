package gateway

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 servers still ask for the client's model

// inRounds is the first version of the protocol in which a server sends no requests. What
// it needs to know from the client stands in the result of a call, and the client makes the
// call again with the answers. Such a call stays held in between.
const inRounds = "2026-07-28"

// An input is something that a call needs to know from its client.
type input struct {
	request mcp.InputRequest
	answer  chan mcp.InputResponse // closed if the client gave none
	sent    bool                   // the client was told of it
}

// errCallOver says that nobody can be asked within a call any more.
var errCallOver = errors.New("the call has ended")

type activeCallKey struct{}

// heldIn returns the call that this is part of; nil if that is not known.
func heldIn(ctx context.Context) *activeCall {
	h, _ := ctx.Value(activeCallKey{}).(*activeCall)
	return h
}

// inquire has the client told, in the result of the call, what is to be answered, and waits
// until it has made the call again with the answer.
func (h *activeCall) inquire(ctx context.Context, r mcp.InputRequest) (mcp.InputResponse, error) {
	id, q := rand.Text(), &input{request: r, answer: make(chan mcp.InputResponse, 1)}
	h.g.mu.Lock()
	if err := answerable(h.caller.caps, r); err != nil {
		h.g.mu.Unlock()
		return nil, err
	}
	finished := h.finished
	if h.inputs == nil {
		h.inputs = map[string]*input{}
	}
	h.inputs[id] = q
	signal(h.news)
	h.g.mu.Unlock()
	defer func() {
		h.g.mu.Lock()
		defer h.g.mu.Unlock()
		delete(h.inputs, id)
	}()
	select {
	case answer, ok := <-q.answer:
		if !ok {
			return nil, errors.New("the client repeated the call without an answer")
		}
		return answer, nil
	case <-finished:
		return nil, errCallOver
	case <-h.ctx.Done():
		return nil, errCallOver
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// answerable reports why a client with these capabilities cannot answer.
func answerable(caps *mcp.ClientCapabilities, r mcp.InputRequest) error {
	if caps == nil {
		caps = &mcp.ClientCapabilities{}
	}
	switch p := r.(type) {
	case *mcp.ElicitParams:
		can := caps.Elicitation
		switch {
		case can == nil:
			return errors.New("the client does not support elicitation")
		case p.Mode == "url" && can.URL == nil:
			return errors.New(`the client does not support "url" elicitation`)
		case p.Mode != "url" && can.Form == nil && can.URL != nil:
			return errors.New(`the client does not support "form" elicitation`)
		}
		return nil
	case *mcp.CreateMessageParams:
		if caps.Sampling == nil {
			return errNoModel
		}
		return nil
	}
	return fmt.Errorf("a client cannot be asked for %T", r)
}

// required is what the client is told of that the call needs to know; false if that is
// nothing. The state says which call the answers are for: nobody can guess it.
func (h *activeCall) required() (reply, bool) {
	h.g.mu.Lock()
	defer h.g.mu.Unlock()
	if len(h.inputs) == 0 {
		return reply{}, false
	}
	h.state = rand.Text()
	told := reply{inputs: mcp.InputRequestMap{}, state: h.state}
	for id, q := range h.inputs {
		told.inputs[id], q.sent = q.request, true
	}
	return told, true
}

// receive hands out the answers of a client that has called again. What it was told of and
// does not answer has no answer; a call without any answer is told of everything once more.
// It wants the lock.
func (h *activeCall) receive(c *caller) {
	h.state = "" // it is used once
	for id, q := range h.inputs {
		switch {
		case len(c.responses) == 0, !q.sent:
			signal(h.news)
			continue
		case c.responses[id] != nil:
			q.answer <- c.responses[id] // there is room: it is taken out below, so nobody else sends
		}
		close(q.answer)
		delete(h.inputs, id)
	}
}

// inquire asks the client whose call a connector works on: within the call, or directly in
// versions of the protocol that know that.
func (g *Gateway) inquire(ctx context.Context, connector string, r mcp.InputRequest,
	directly func(context.Context, *mcp.ServerSession) (mcp.InputResponse, error)) (mcp.InputResponse, error) {
	for {
		h, known := heldIn(ctx), true
		if h == nil {
			h, known = g.routes.of(connector), false
		}
		if h == nil {
			at, err := g.users.only()
			if err == nil && speaksInRounds(at) {
				err = errors.New("the client's protocol version lets a server ask only during a call")
			}
			if err != nil {
				return nil, err
			}
			return directly(ctx, at)
		}
		c, attended := h.current()
		switch {
		case c.rounds:
			answer, err := h.inquire(ctx, r)
			if errors.Is(err, errCallOver) && !known && ctx.Err() == nil {
				continue // it may work on another call of the client
			}
			return answer, err
		case c.at == nil || !attended:
			return nil, errors.New("the client no longer waits for the call")
		}
		of, cancel := context.WithCancelCause(c.ctx)
		defer cancel(errors.New("it was asked"))
		defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
		return directly(of, c.at)
	}
}

func speaksInRounds(at *mcp.ServerSession) bool {
	p := at.InitializeParams()
	return p != nil && p.ProtocolVersion >= inRounds
}
