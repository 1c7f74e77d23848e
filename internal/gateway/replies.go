package gateway

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/connector"
)

// A reply is what a call comes to: a result as the protocol has it, an error, or what the
// client has to answer first.
type reply struct {
	raw    json.RawMessage
	value  any // the result of a method
	err    *jsonrpc.Error
	inputs mcp.InputRequestMap
	state  string
}

// codeRefused is the code of errors that say that a method was refused or waits.
const codeRefused = -32010

func refused(code int64, err error) reply {
	return reply{err: &jsonrpc.Error{Code: code, Message: err.Error()}}
}

// replyOf is what a call that has ended comes to.
func (h *activeCall) replyOf(results []tool.Result, err error) reply {
	if err != nil || len(results) != 1 {
		return refused(jsonrpc.CodeInternalError, fmt.Errorf("the call failed: %w", err))
	}
	r := results[0]
	if h.method {
		return methodReply(r)
	}
	if came, ok := r.Value.(connector.Result); ok {
		return noted(r, came.Raw())
	}
	return textReply(r.Text, r.Err != nil, nil)
}

// methodReply is what a method that has ended comes to. An error of the server stays as it
// came.
func methodReply(r tool.Result) reply {
	var theirs *jsonrpc.Error
	switch {
	case r.Outcome.State == policy.StateAnswered:
		return answeredFor(r)
	case errors.As(r.Err, &theirs):
		return reply{err: theirs}
	case r.Err != nil:
		return refused(codeRefused, errors.New(r.Text))
	}
	result, ok := r.Value.(mcp.Result)
	if note := r.Outcome.Note(); ok && note != "" {
		meta := result.GetMeta()
		if meta == nil {
			meta = map[string]any{}
		}
		meta["assent/note"] = note
		result.SetMeta(meta)
	}
	return reply{value: r.Value}
}

// answeredFor is what a person gave in place of the server.
func answeredFor(r tool.Result) reply {
	text := r.Outcome.Decision.Result
	var p params
	if err := json.Unmarshal(r.Outcome.Call.Arguments, &p); err != nil {
		return refused(jsonrpc.CodeInternalError, err)
	}
	switch r.Outcome.Call.Tool {
	case connector.ReadResource:
		return reply{value: &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: p.URI, Text: text}}}}
	case connector.GetPrompt:
		said := &mcp.PromptMessage{Role: "user", Content: &mcp.TextContent{Text: text}}
		return reply{value: &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{said}}}
	}
	return refused(codeRefused, errors.New(r.Text))
}

// noted is a result as it came, with what the person who answered said or changed.
func noted(r tool.Result, raw json.RawMessage) reply {
	var notes []any
	add := func(format string, args ...any) {
		notes = append(notes, &mcp.TextContent{Text: fmt.Sprintf(format, args...)})
	}
	if r.Outcome.Original != nil {
		add("[A person changed the arguments before approving. What ran: %s]", r.Outcome.Call.Arguments)
	}
	if note := r.Outcome.Note(); note != "" {
		add("[The person who answered says: %s]", note)
	}
	if notes == nil {
		return reply{raw: raw}
	}
	var fields map[string]json.RawMessage
	var content []any
	err := json.Unmarshal(raw, &fields)
	if err == nil && fields["content"] != nil {
		err = json.Unmarshal(fields["content"], &content)
	}
	if err == nil {
		fields["content"], err = json.Marshal(append(content, notes...))
	}
	if err == nil {
		raw, err = json.Marshal(fields)
	}
	if err != nil {
		return refused(jsonrpc.CodeInternalError, fmt.Errorf("the result cannot be read: %w", err))
	}
	return reply{raw: raw}
}

// pending is what a caller is told whose patience is likely to end. It is marked as an
// error, because it is no result that fits the tool.
func (h *activeCall) pending() reply {
	id := ""
	if waiting := h.batch.Pending(); len(waiting) > 0 {
		id = waiting[0].ID
	}
	if h.method {
		return h.pendingMethod(id)
	}
	text := fmt.Sprintf("[PENDING] %s waits for a person's answer (request %s). It has not run. "+
		"Call it again with exactly the same arguments to keep waiting; if it was answered by then, that call returns the "+
		"result. "+
		"Do not try to do the same in another way.", h.name, id)
	return textReply(text, true, map[string]any{"assent/state": "pending", "assent/request": id})
}

// pendingMethod is the same for a method, whose result has no room for it.
func (h *activeCall) pendingMethod(id string) reply {
	text := fmt.Sprintf("%s waits for a person's answer (request %s) and has not run. Answer it with 'assent inbox' or "+
		"'assent approve %s', then repeat the same request.", h.name, id, id)
	if h.fleeting {
		text = fmt.Sprintf("%s was not answered in time and has not run. A rule answers it: assent rules add 'allow %s'.",
			h.name, h.name)
	}
	data, err := json.Marshal(map[string]any{"assent/state": "pending", "assent/request": id})
	if err != nil {
		return refused(jsonrpc.CodeInternalError, err)
	}
	return reply{err: &jsonrpc.Error{Code: codeRefused, Message: text, Data: data}}
}

func textReply(text string, failed bool, meta map[string]any) reply {
	content := []mcp.Content{&mcp.TextContent{Text: text}}
	raw, err := json.Marshal(&mcp.CallToolResult{Content: content, IsError: failed, Meta: meta})
	if err != nil {
		return refused(jsonrpc.CodeInternalError, err)
	}
	return reply{raw: raw}
}
