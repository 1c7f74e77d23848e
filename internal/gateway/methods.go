package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/connector"
)

//lint:file-ignore SA1019 servers still write log messages and ask for the client's model

// A method is one of the ways besides tools in which a client reaches a connector, or a
// connector the client. It is a tool of the connector for the gate, named as the protocol
// names it (`github:resources/read`), and for nobody else: no client can call it, and no
// tool of a server may have its name.
//
// What the server itself has listed is free, and so is what carries no text that the model
// chose. Everything else asks: a URI or an argument can carry a secret to the server as well
// as the argument of a tool.
type method struct {
	gateway *Gateway
	to      *connector.Connector
	name    string
}

var _ tool.Tool = (*method)(nil)

// methodsOf are the methods of the connectors.
func methodsOf(g *Gateway) (out []tool.Tool) {
	for _, c := range g.opts.Connectors {
		for _, name := range connector.Methods() {
			out = append(out, &method{gateway: g, to: c, name: name})
		}
	}
	return out
}

// params are the arguments of all methods.
type params struct {
	URI       string                      `json:"uri,omitempty"`
	Name      string                      `json:"name,omitempty"`
	Arguments map[string]string           `json:"arguments,omitempty"`
	Ref       *mcp.CompleteReference      `json:"ref,omitempty"`
	Argument  *mcp.CompleteParamsArgument `json:"argument,omitempty"`
	Context   *mcp.CompleteContext        `json:"context,omitempty"`
	Level     mcp.LoggingLevel            `json:"level,omitempty"`
	Message   string                      `json:"message,omitempty"`
	Messages  int                         `json:"messages,omitempty"`
}

// schemas are what the methods take, which matters to a person who changes it.
var schemas = map[string]string{
	connector.ReadResource: oneText("uri"), connector.Subscribe: oneText("uri"), connector.Unsubscribe: oneText("uri"),
	connector.GetPrompt: taking("name", `,"arguments":{"type":"object","additionalProperties":{"type":"string"}}`),
	connector.SetLevel:  oneText("level"),
}

func oneText(name string) string { return taking(name, "") }

// taking is the schema of an object with a text that must be there, and with more.
func taking(name, more string) string {
	const object = `{"type":"object","properties":{%q:{"type":"string"}%s},"required":[%[1]q],"additionalProperties":false}`
	return fmt.Sprintf(object, name, more)
}

// Spec implements [tool.Tool].
func (m *method) Spec() tool.Spec {
	return tool.Spec{Connector: m.to.Name(), Name: m.name, Schema: json.RawMessage(schemas[m.name])}
}

// Prepare implements [tool.Tool].
func (m *method) Prepare(_ context.Context, args json.RawMessage) (tool.Action, error) {
	var p params
	if err := json.Unmarshal(args, &p); err != nil {
		return tool.Action{}, err
	}
	act := policy.Act{Target: m.target(p, args), Known: true, Verdict: policy.VerdictAsk}
	if act.Why = m.carries(p); act.Why == "" {
		act.Verdict, act.Why = policy.VerdictFree, "the agent chose nothing in it"
	}
	doubt := m.doubt()
	if doubt != "" {
		act.Verdict, act.PersonOnly = policy.VerdictAsk, true
		act.Why = fmt.Sprintf("connector %s needs a person's attention: %s", m.to.Name(), doubt)
	}
	title := m.Spec().FullName()
	if about := m.about(p); about != "" {
		title += " on " + about
	}
	view := func(context.Context) (present.View, error) {
		from := strings.ToValidUTF8(m.to.Name()+", "+m.to.Config().Launch(), "\uFFFD")
		return present.View{Kind: present.KindStructured, Content: indented(args), Language: "json",
			Facts: present.Facts{present.TextFact("connector", from)}}, nil
	}
	do := func(ctx context.Context) (any, error) {
		if doubt != "" { // then it was a person who answered: nothing else can
			if err := m.to.Agree(ctx); err != nil {
				return nil, err
			}
		}
		return m.do(ctx, p)
	}
	return tool.Ask(do).On(act).Titled(title).Showing(view).Seeing(policy.DigestOf([]byte(doubt))), nil
}

// doubt says why a person has to look at the connector before it is reached.
func (m *method) doubt() string {
	switch m.name {
	case connector.ReadResource, connector.Subscribe, connector.GetPrompt, connector.Complete:
		return m.to.Doubt()
	}
	return ""
}

func indented(args json.RawMessage) string {
	data, err := json.MarshalIndent(args, "", "  ")
	if err != nil {
		return string(args)
	}
	return string(data)
}

// about is what the call is about: a URI, or the name of a prompt.
func (m *method) about(p params) string {
	switch m.name {
	case connector.ReadResource, connector.Subscribe, connector.Unsubscribe:
		return p.URI
	case connector.GetPrompt:
		return p.Name
	case connector.Complete:
		if p.Ref != nil {
			return p.Ref.Name + p.Ref.URI // it has one of them
		}
	case connector.SetLevel:
		return string(p.Level)
	}
	return ""
}

// target is what rules match.
func (m *method) target(p params, args json.RawMessage) policy.Target {
	about := m.about(p)
	switch {
	case about == "":
		return policy.ArgumentsTarget(args)
	case p.URI != "" && !isPlainURI(about):
		return policy.UnknownTarget(policy.KindText)
	}
	return policy.TextTarget(about)
}

// carries says what the model may have chosen in a call; empty if there is nothing.
func (m *method) carries(p params) string {
	switch m.name {
	case connector.ReadResource, connector.Subscribe:
		if !m.gateway.owners.has(resources, m.to, p.URI) {
			return fmt.Sprintf("connector %s does not list this resource, so the agent chose its URI", m.to.Name())
		}
	case connector.GetPrompt:
		if len(p.Arguments) > 0 {
			return fmt.Sprintf("the arguments of the prompt go to connector %s", m.to.Name())
		}
		if !m.gateway.owners.has(prompts, m.to, m.gateway.nameOf(m.to, p.Name)) {
			return fmt.Sprintf("connector %s does not list this prompt", m.to.Name())
		}
	case connector.Complete:
		return fmt.Sprintf("the text to complete goes to connector %s", m.to.Name())
	}
	return ""
}

// do has the server, or for what the server asks the client, do it.
func (m *method) do(ctx context.Context, p params) (any, error) {
	if m.name == connector.Elicit || m.name == connector.Sample {
		speak, ok := ctx.Value(speakKey{}).(func(context.Context) (mcp.InputResponse, error))
		if !ok {
			return nil, errors.New("only a connector offers this method")
		}
		return speak(ctx)
	}
	s, err := m.to.Session()
	if err != nil {
		return nil, err
	}
	ctx, cancel := m.to.Limit(ctx)
	defer cancel()
	switch m.name {
	case connector.ReadResource:
		return s.ReadResource(ctx, &mcp.ReadResourceParams{URI: p.URI})
	case connector.GetPrompt:
		return s.GetPrompt(ctx, &mcp.GetPromptParams{Name: p.Name, Arguments: p.Arguments})
	case connector.Complete:
		if p.Ref == nil || p.Argument == nil {
			return nil, errors.New("the request does not name what to complete")
		}
		return s.Complete(ctx, &mcp.CompleteParams{Ref: p.Ref, Argument: *p.Argument, Context: p.Context})
	case connector.Subscribe:
		return nil, s.Subscribe(ctx, &mcp.SubscribeParams{URI: p.URI})
	case connector.Unsubscribe:
		return nil, s.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: p.URI})
	case connector.SetLevel:
		return nil, s.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: p.Level})
	}
	return nil, fmt.Errorf("unknown method %q", m.name)
}

// speakKey is where what a connector asks stands while it passes the gate.
type speakKey struct{}

// pass takes a method through the gate, held like the call of a tool.
func (g *Gateway) pass(c *caller, to *connector.Connector, name string, p params) reply {
	if _, err := to.Session(); err != nil {
		return refused(codeRefused, err)
	}
	args, err := json.Marshal(p)
	if err == nil {
		args, err = canonical.Arguments(args)
	}
	if err != nil {
		return refused(codeRefused, err)
	}
	o := g.take()
	if o == nil {
		return refused(codeRefused, errClosed)
	}
	h := &activeCall{offer: o, method: true, fleeting: name == connector.Complete}
	return g.through(c, h, policy.Call{Connector: to.Name(), Tool: name, Arguments: args, Session: c.session},
		to.Name()+":"+name)
}

// once takes a method through the gate that nobody calls again.
func (g *Gateway) once(ctx context.Context, session, to, name string, p params) (any, error) {
	args, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	o := g.take()
	if o == nil {
		return nil, errClosed
	}
	defer o.users.Done()
	r := tool.Call(ctx, o.gate, policy.Call{Connector: to, Tool: name, Arguments: args, Session: session})
	if failed := (*tool.FailedError)(nil); errors.As(r.Err, &failed) {
		return nil, failed.Err
	}
	return r.Value, r.Err
}

// speak has a connector ask the client, unless that is denied, and records it.
func (g *Gateway) speak(ctx context.Context, from, name string, p params,
	ask func(context.Context) (mcp.InputResponse, error)) (mcp.InputResponse, error) {
	session := g.opts.Gate.Session
	if h := heldIn(ctx); h != nil {
		session = h.session
	} else if h := g.routes.of(from); h != nil {
		session = h.session
	}
	value, err := g.once(context.WithValue(ctx, speakKey{}, ask), session, from, name, p)
	if err != nil {
		return nil, err
	}
	answer, ok := value.(mcp.InputResponse)
	if !ok {
		return nil, fmt.Errorf("a person answered instead of the client: %v", value)
	}
	return answer, nil
}

// denied reports whether a method of a connector is refused, whoever would answer. What
// cannot be judged is.
func (g *Gateway) denied(ctx context.Context, session, of, name string, p params) bool {
	args, err := json.Marshal(p)
	o := g.take()
	if err != nil || o == nil {
		return true
	}
	defer o.users.Done()
	j, err := o.gate.Look(ctx, policy.Call{Connector: of, Tool: name, Arguments: args, Session: session})
	return err != nil || j.State == policy.StateBlocked || j.State == policy.StateAutoDenied
}
