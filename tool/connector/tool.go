package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// A Tool is a tool of a connector.
type Tool struct {
	connector *Connector
	name      string
}

var _ tool.Tool = (*Tool)(nil)

// described is a tool of which only the definition is known.
type described struct{ spec tool.Spec }

func (d described) Spec() tool.Spec { return d.spec }

func (described) Prepare(context.Context, json.RawMessage) (tool.Action, error) {
	return tool.Block("it is not there any more"), nil
}

// Spec implements [tool.Tool]. It is what models are shown: the definition that was agreed
// to, or one without the server's words.
func (t *Tool) Spec() tool.Spec {
	if e := t.entry(); e != nil {
		return e.spec
	}
	return tool.Spec{Connector: t.connector.cfg.Name, Name: t.name}
}

// Definition returns what models are shown, as the protocol has it; nil if the tool is
// gone.
func (t *Tool) Definition() *mcp.Tool {
	e := t.entry()
	if e == nil {
		return nil
	}
	shown := *e.served.tool
	return &shown
}

func (t *Tool) entry() *entry { return t.connector.lists.current().entries[t.name] }

// Prepare implements [tool.Tool]. It may list the server's tools again, and calls nothing.
func (t *Tool) Prepare(ctx context.Context, args json.RawMessage) (tool.Action, error) {
	c := t.connector
	s, err := c.connected()
	if err != nil {
		return tool.Action{}, err
	}
	if err := c.lists.fresh(ctx, s); err != nil {
		return tool.Action{}, fmt.Errorf("the tools of connector %s cannot be listed: %w", c.cfg.Name, err)
	}
	e := t.entry()
	if e == nil {
		return tool.Action{}, fmt.Errorf("connector %s has no tool %s any more", c.cfg.Name, t.name)
	}
	act := policy.Act{Target: c.cfg.target(t.name, args), Known: true, Verdict: policy.VerdictAsk, Why: c.why(e)}
	switch {
	case e.doubt != "":
		act.PersonOnly = true
	case c.cfg.TrustAnnotations && onlyReads(e.now.tool.Annotations):
		act.Verdict, act.Why = policy.VerdictFree, fmt.Sprintf("connector %s is trusted, and says that it only reads%s", c.cfg.Name, at(c.cfg.Source))
	}
	do := func(ctx context.Context) (any, error) { return t.do(ctx, e, args) }
	return tool.Ask(do).On(act).
		Titled(c.title(e, act.Target)).
		Showing(c.view(e, args)).
		Seeing(e.state()), nil
}

// state is what an answer is bound to besides the definition that models are shown.
func (e *entry) state() policy.Digest {
	return policy.DigestOf([]byte(e.now.hash + "\n" + e.doubt))
}

// target is what a call is about: the argument that config names, else all of them.
func (c *Config) target(name string, args json.RawMessage) policy.Target {
	argument, ok := c.Targets[name]
	if !ok {
		return policy.ArgumentsTarget(args)
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(args, &all) != nil {
		return policy.UnknownTarget(policy.KindText)
	}
	value := all[argument]
	var text string
	switch {
	case json.Unmarshal(value, &text) == nil && text != "":
		return policy.TextTarget(text)
	case len(value) > 0 && !strings.ContainsAny(string(value[:1]), `"{[n`):
		return policy.TextTarget(string(value)) // a number, true or false
	}
	return policy.UnknownTarget(policy.KindText)
}

// why says why it asks.
func (c *Connector) why(e *entry) string {
	switch {
	case e.doubt != "":
		return fmt.Sprintf("a person has to look at %s:%s: %s", c.cfg.Name, e.now.tool.Name, e.doubt)
	case destructive(e.now.tool.Annotations):
		return "a connector's tool asks, and this one says that it destroys" + at(c.cfg.Source)
	}
	return "a connector's tool asks" + at(c.cfg.Source)
}

// onlyReads reports whether a server says that a tool changes nothing, and does not say
// the opposite as well.
func onlyReads(a *mcp.ToolAnnotations) bool { return a != nil && a.ReadOnlyHint && !destructive(a) }

func destructive(a *mcp.ToolAnnotations) bool {
	return a != nil && a.DestructiveHint != nil && *a.DestructiveHint
}

// do calls the tool, if it still is what was looked at. If that was doubted, then it was a
// person who answered: nothing else can.
func (t *Tool) do(ctx context.Context, e *entry, args json.RawMessage) (any, error) {
	c := t.connector
	if now := t.entry(); now == nil || now.now.hash != e.now.hash || now.doubt != e.doubt {
		return nil, fmt.Errorf("the definition of %s:%s: %w", c.cfg.Name, t.name, approval.ErrChanged)
	}
	s, err := c.connected()
	if err != nil {
		return nil, err
	}
	if e.doubt != "" {
		if err := c.agree(ctx, e); err != nil {
			return nil, err
		}
	}
	raw, err := c.call(ctx, s, t.name, args)
	if err != nil {
		return nil, err
	}
	return c.result(ctx, raw)
}

// Limit returns a context that is done when a call to the server has taken as long as it may.
func (c *Connector) Limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.opts.CallTimeout, c.late)
}

// call makes the call, as long as it may take.
func (c *Connector) call(ctx context.Context, s *session, name string, args json.RawMessage) (json.RawMessage, error) {
	ctx, cancel := c.Limit(ctx)
	defer cancel()
	token, remove := c.progress.add(hears(ctx))
	defer remove()
	given, _ := passing(ctx)
	raw, err := c.callInRounds(ctx, s, callParams{name: name, arguments: args, given: given.Meta, token: token, asks: c.opts.Elicit != nil})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, c.late
	case errors.Is(err, errEnded), errors.Is(err, mcp.ErrConnectionClosed):
		return nil, fmt.Errorf("connector %s went away during the call, which may have had its effect: %w", c.cfg.Name, err)
	}
	return raw, err
}
