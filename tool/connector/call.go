package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/tool"
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

// A Passing is what travels with a call through the gate, for a caller who speaks the
// protocol too.
type Passing struct {
	// Meta is what the caller says about the call, passed on to the server.
	Meta map[string]any
	// Progress hears how far the call is, while it runs. It must not block. Nil means nobody.
	Progress func(*mcp.ProgressNotificationParams)
}

type passingKey struct{}

// WithPassing returns a context in which calls pass this on, and in which a result is
// always a [Result].
func WithPassing(ctx context.Context, p Passing) context.Context {
	return context.WithValue(ctx, passingKey{}, p)
}

func passing(ctx context.Context) (Passing, bool) {
	p, ok := ctx.Value(passingKey{}).(Passing)
	return p, ok
}

// hears is who hears of the progress of a call in this context, if anybody.
func hears(ctx context.Context) func(*mcp.ProgressNotificationParams) {
	if p, ok := passing(ctx); ok {
		return p.Progress
	}
	w := tool.Progress(ctx)
	if w == io.Discard {
		return nil
	}
	return func(p *mcp.ProgressNotificationParams) {
		far := strconv.FormatFloat(p.Progress, 'g', -1, 64)
		if p.Total > 0 {
			far += " of " + strconv.FormatFloat(p.Total, 'g', -1, 64)
		}
		_, _ = fmt.Fprintf(w, "%s %s\n", far, p.Message) // who watches does not matter to the call
	}
}

// listeners are who hears of the progress of calls, by their token.
type listeners struct {
	mu   sync.Mutex
	next int
	by   map[string]func(*mcp.ProgressNotificationParams)
}

// add returns the token of a new listener, and how to remove it. Nobody has none.
func (l *listeners) add(hear func(*mcp.ProgressNotificationParams)) (token string, remove func()) {
	if hear == nil {
		return "", func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]func(*mcp.ProgressNotificationParams){}
	}
	l.next++
	token = ownID + strconv.Itoa(l.next)
	l.by[token] = hear
	return token, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.by, token)
	}
}

// hear takes a message that is about progress.
func (l *listeners) hear(r *jsonrpc.Request) bool {
	if r.Method != "notifications/progress" {
		return false
	}
	var p mcp.ProgressNotificationParams
	if json.Unmarshal(r.Params, &p) == nil {
		l.tell(&p)
	}
	return true
}

func (l *listeners) tell(p *mcp.ProgressNotificationParams) {
	token, _ := p.ProgressToken.(string)
	l.mu.Lock()
	hear := l.by[token]
	l.mu.Unlock()
	if hear != nil {
		hear(p)
	}
}

// A Result is what a server answered to a call, as it came.
type Result struct{ raw json.RawMessage }

// MarshalJSON returns what came.
func (r Result) MarshalJSON() ([]byte, error) { return r.raw, nil }

// Raw returns what came: a CallToolResult of the protocol.
func (r Result) Raw() json.RawMessage { return r.raw }

// A ToolError says that the tool ran and reported a failure, in the server's own words.
type ToolError struct{ Text string }

func (e *ToolError) Error() string {
	if e.Text == "" {
		return "the tool reports a failure and does not say which"
	}
	return e.Text
}

// result makes of an answer what the gate hands on. A failure that the tool reports has
// both: the result as it came, and an error.
func (c *Connector) result(ctx context.Context, raw json.RawMessage) (any, error) {
	if len(raw) > c.opts.MaxResult {
		return nil, fmt.Errorf("connector %s answered with %d bytes; at most %d are taken", c.cfg.Name, len(raw),
			c.opts.MaxResult)
	}
	failed, err := readResult(raw)
	if err != nil {
		return nil, fmt.Errorf("connector %s answered with %w", c.cfg.Name, err)
	}
	_, passes := passing(ctx)
	if passes && !failed {
		return Result{raw}, nil
	}
	text, err := textOf(raw)
	switch {
	case err != nil:
		return nil, fmt.Errorf("connector %s answered with a result that cannot be read: %w", c.cfg.Name, err)
	case failed:
		return Result{raw}, &ToolError{Text: text}
	}
	return text, nil
}

// readResult reports whether a result says that the tool failed. The error is about a result
// that nobody here understands.
func readResult(raw json.RawMessage) (failed bool, err error) {
	if len(raw) == 0 || raw[0] != '{' {
		return false, errors.New("something that is no result")
	}
	for name, value := range members(raw) {
		switch {
		case spells(name, "isError"):
			err = json.Unmarshal(value, &failed)
		case spells(name, "resultType"):
			var kind string
			if err = json.Unmarshal(value, &kind); err == nil && kind != "" && kind != "complete" {
				return false, fmt.Errorf("a result of type %q, which is not understood", kind)
			}
		}
		if err != nil {
			return false, fmt.Errorf("something that is no result: %w", err)
		}
	}
	return failed, nil
}

// spells reports whether some client may read the name of a member as this one: it can be
// written with escapes, and not every decoder tells upper from lower case.
func spells(name []byte, as string) bool {
	text := string(name)
	if strings.ContainsRune(text, '\\') && json.Unmarshal([]byte(`"`+text+`"`), &text) != nil {
		return false // cannot be: it was read as JSON
	}
	return strings.EqualFold(text, as)
}

// textOf returns a result as text for a model: texts as they are, other things named.
func textOf(raw json.RawMessage) (string, error) {
	var result mcp.CallToolResult
	if err := json.Unmarshal(raw, &result); err != nil {
		return "", err
	}
	var parts []string
	for _, content := range result.Content {
		part, err := contentText(content)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 && result.StructuredContent != nil {
		data, err := json.Marshal(result.StructuredContent)
		return string(data), err
	}
	return strings.Join(parts, "\n"), nil
}

func contentText(content mcp.Content) (string, error) {
	switch c := content.(type) {
	case *mcp.TextContent:
		return c.Text, nil
	case *mcp.ImageContent:
		return fmt.Sprintf("[image, %s, %d bytes]", c.MIMEType, len(c.Data)), nil
	case *mcp.AudioContent:
		return fmt.Sprintf("[audio, %s, %d bytes]", c.MIMEType, len(c.Data)), nil
	case *mcp.ResourceLink:
		return fmt.Sprintf("[resource %s]", c.URI), nil
	case *mcp.EmbeddedResource:
		if c.Resource == nil {
			return "", errors.New("a resource is empty")
		}
		if c.Resource.Text != "" {
			return c.Resource.Text, nil
		}
		return fmt.Sprintf("[resource %s, %d bytes]", c.Resource.URI, len(c.Resource.Blob)), nil
	}
	return fmt.Sprintf("[%T]", content), nil
}

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
