package connector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
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
		return tool.Action{}, fmt.Errorf("connector %s no longer has a tool named %s", c.cfg.Name, t.name)
	}
	act := policy.Act{Target: c.cfg.target(t.name, args), Known: true, Verdict: policy.VerdictAsk, Why: c.why(e)}
	switch {
	case e.doubt != "":
		act.PersonOnly = true
	case c.cfg.TrustAnnotations && onlyReads(e.now.tool.Annotations):
		act.Verdict, act.Why = policy.VerdictFree, fmt.Sprintf("connector %s is trusted, and says that it only reads%s",
			c.cfg.Name, at(c.cfg.Source))
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
	raw, err := c.callInRounds(ctx, s,
		callParams{name: name, arguments: args, given: given.Meta, token: token, asks: c.opts.Elicit != nil})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, c.late
	case errors.Is(err, errEnded), errors.Is(err, mcp.ErrConnectionClosed):
		return nil, fmt.Errorf("connector %s went away during the call, which may have had its effect: %w", c.cfg.Name, err)
	}
	return raw, err
}

// Unstarted is a tool of a connector whose server does not run, for who only says what would
// happen: it asks, like every tool of a connector that config does not trust. What only the
// server can tell, that it has no such tool or that its definition changed, is not known.
func Unstarted(cfg Config, name string) tool.Tool { return unstarted{cfg, name} }

type unstarted struct {
	cfg  Config
	name string
}

// Spec implements [tool.Tool].
func (u unstarted) Spec() tool.Spec { return tool.Spec{Connector: u.cfg.Name, Name: u.name} }

// Prepare implements [tool.Tool].
func (u unstarted) Prepare(_ context.Context, args json.RawMessage) (tool.Action, error) {
	act := policy.Act{Target: u.cfg.target(u.name, args), Known: true, Verdict: policy.VerdictAsk,
		Why: "a connector's tool asks" + at(u.cfg.Source)}
	never := func(context.Context) (any, error) { return nil, errors.New("the connector's server does not run") }
	return tool.Ask(never).On(act).Titled(u.cfg.Name + ":" + u.name), nil
}

// title is the call in one line.
func (c *Connector) title(e *entry, target policy.Target) string {
	name := c.cfg.Name + ":" + e.now.tool.Name
	if target.Kind == policy.KindText && !target.Unknown {
		name += " on " + target.Text
	}
	if e.old != nil {
		return name + " (its definition changed)"
	}
	return name
}

// view shows all the arguments and, as a quotation, what the connector says about itself.
// Where the definition changed it shows how, with the arguments above.
func (c *Connector) view(e *entry, args json.RawMessage) func(context.Context) (present.View, error) {
	return func(context.Context) (present.View, error) {
		about := c.about(e)
		if e.old == nil {
			return present.View{Kind: present.KindStructured, Content: layOut(args), Language: "json", Facts: about}, nil
		}
		v, err := e.now.diff(*e.old, c.cfg.Launch())
		v.Facts = append(about, present.TextFact("arguments", string(args)))
		return v, err
	}
}

// about says where the tool comes from.
func (c *Connector) about(e *entry) present.Facts {
	t := e.now.tool
	facts := present.Facts{present.TextFact("connector", c.cfg.Name+", "+c.cfg.Launch())}
	if e.doubt != "" {
		facts = append(facts, present.TextFact("attention", e.doubt))
	}
	if t.Description != "" {
		facts = append(facts, present.TextFact("the connector says", quoted(t.Description)))
	}
	if hints := hints(t.Annotations); hints != "" {
		facts = append(facts, present.TextFact("it claims to be", hints))
	}
	for i, f := range facts {
		if text, ok := f.Text(); ok {
			facts[i] = present.TextFact(f.Name(), strings.ToValidUTF8(text, "\uFFFD"))
		}
	}
	return facts
}

// quoted marks the words of a stranger, who cannot end the quotation.
func quoted(text string) string {
	const most = 400
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return "“" + quotationMarks.Replace(text) + "”"
}

var quotationMarks = strings.NewReplacer("“", "'", "”", "'", "„", "'", "‟", "'", "«", "'", "»", "'", "″", "'", "＂", "'",
	`"`, "'")

// hints are what the server says about the tool, in words.
func hints(a *mcp.ToolAnnotations) string {
	if a == nil {
		return ""
	}
	said := map[string]bool{
		"read-only":                       a.ReadOnlyHint,
		"destructive":                     destructive(a),
		"not destructive":                 a.DestructiveHint != nil && !*a.DestructiveHint,
		"idempotent":                      a.IdempotentHint,
		"in touch with the outside world": a.OpenWorldHint != nil && *a.OpenWorldHint,
	}
	maps.DeleteFunc(said, func(_ string, is bool) bool { return !is })
	return strings.Join(slices.Sorted(maps.Keys(said)), ", ")
}
