package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/connector"
)

// An offer is a set of tools and the gate in front of it. If the set becomes another, so
// does the offer; calls that are under way end with the one that they began with.
type offer struct {
	gate  *tool.Gate
	tools map[string]tool.Tool // by the name that clients know
	users sync.WaitGroup       // calls under way
}

// retire closes the gate when its last call has ended.
func (o *offer) retire() {
	go func() {
		o.users.Wait()
		o.gate.Close()
	}()
}

// take returns the offer for one call, which says Done to its users in the end.
func (g *Gateway) take() *offer {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.offer != nil {
		g.offer.users.Add(1)
	}
	return g.offer
}

// served is a tool under the name that clients know.
type served struct {
	name string
	tool tool.Tool
	// definition is what clients are shown.
	definition *mcp.Tool
}

// sync offers what the connectors have now. With an error what was offered stays.
func (g *Gateway) sync() error {
	g.syncing.Lock()
	defer g.syncing.Unlock()
	all := g.collect()
	if err := g.renew(all); err != nil {
		return err
	}
	now := make(map[string]policy.Digest, len(all))
	for _, s := range all {
		data, err := json.Marshal(s.definition)
		if err != nil {
			return err
		}
		if now[s.name] = policy.DigestOf(data); now[s.name] != g.offered[s.name] {
			if err := g.add(s); err != nil {
				delete(now, s.name)
				g.opts.Report(fmt.Sprintf("tool %s is not offered: %v", s.name, err))
			}
		}
	}
	for name := range g.offered {
		if _, there := now[name]; !there {
			g.server.RemoveTools(name)
		}
	}
	g.offered = now
	return nil
}

// add offers a tool to clients. The SDK panics if it does not like a definition.
func (g *Gateway) add(s served) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	g.server.AddTool(s.definition, g.handle)
	return nil
}

// collect returns all tools under the names that clients know. Of two with one name the
// first counts: a name is never made another to fit.
func (g *Gateway) collect() (out []served) {
	seen := map[string]bool{}
	put := func(name string, t tool.Tool, definition *mcp.Tool) {
		if seen[name] {
			g.opts.Report(fmt.Sprintf("tool %s is not offered: its name %s is taken", t.Spec().FullName(), name))
			return
		}
		seen[name] = true
		definition.Name = name
		out = append(out, served{name, t, definition})
	}
	for _, t := range g.opts.Tools {
		spec := t.Spec()
		put(spec.Name, t, &mcp.Tool{Description: spec.Description, InputSchema: objectSchema(spec.Schema)})
	}
	for _, c := range g.opts.Connectors {
		for _, t := range c.Tools() {
			if definition := t.(*connector.Tool).Definition(); definition != nil {
				definition.InputSchema = objectSchema(definition.InputSchema)
				put(g.nameOf(c, t.Spec().Name), t, definition)
			}
		}
	}
	return out
}

// nameOf is what clients call a connector's tool or prompt. It is never taken apart again.
func (g *Gateway) nameOf(c *connector.Connector, name string) string {
	if g.opts.Plain {
		return name
	}
	return c.Name() + "__" + name
}

// objectSchema returns a schema that says that arguments are an object, as clients want it.
func objectSchema(schema any) any {
	data, err := json.Marshal(schema)
	fields := map[string]any{}
	if err != nil || json.Unmarshal(data, &fields) != nil || fields == nil {
		fields = map[string]any{}
	}
	fields["type"] = "object"
	return fields
}

// renew makes a new gate if the tools are not the same ones. What they are is looked up by
// the gate for every call.
func (g *Gateway) renew(all []served) error {
	next := &offer{tools: make(map[string]tool.Tool, len(all))}
	tools := slices.Clone(g.methods)
	for _, s := range all {
		next.tools[s.name], tools = s.tool, append(tools, s.tool)
	}
	g.mu.Lock()
	before := g.offer
	g.mu.Unlock()
	if g.ctx.Err() != nil || before != nil && slices.Equal(slices.Sorted(maps.Keys(before.tools)), slices.Sorted(maps.Keys(next.tools))) {
		return nil
	}
	err := error(nil)
	if g.opts.Configure != nil {
		tools, err = g.opts.Configure(tools...)
	}
	if err == nil {
		next.gate, err = tool.Guard(g.opts.Gate, tools...)
	}
	if err != nil {
		return err
	}
	g.mu.Lock()
	g.offer = next
	g.mu.Unlock()
	if before != nil {
		before.retire()
	}
	return nil
}

// lists has the connectors list their tools again before a client is shown them, and notes
// what it is shown.
func (g *Gateway) lists(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if method != "tools/list" {
			return next(ctx, method, r)
		}
		g.refresh(ctx)
		if err := g.sync(); err != nil {
			return nil, err
		}
		g.note(g.sessionOf(r.GetSession()))
		return next(ctx, method, r)
	}
}

// hides leaves prompts and resources out of lists that a client would be refused.
func (g *Gateway) hides(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, r)
		if err != nil {
			return result, err
		}
		hidden := func(k kind, name, method string, p params) bool {
			owner := g.others.owner(k, name)
			return owner == nil || g.denied(ctx, g.sessionOf(r.GetSession()), owner.Name(), method, p)
		}
		switch list := result.(type) {
		case *mcp.ListPromptsResult:
			list.Prompts = slices.DeleteFunc(list.Prompts, func(p *mcp.Prompt) bool {
				return hidden(prompts, p.Name, connector.GetPrompt, params{Name: g.theirs(p.Name)})
			})
		case *mcp.ListResourcesResult:
			list.Resources = slices.DeleteFunc(list.Resources, func(r *mcp.Resource) bool {
				return hidden(resources, r.URI, connector.ReadResource, params{URI: r.URI})
			})
		case *mcp.ListResourceTemplatesResult:
			list.ResourceTemplates = slices.DeleteFunc(list.ResourceTemplates, func(r *mcp.ResourceTemplate) bool {
				return hidden(templates, r.URITemplate, connector.ReadResource, params{URI: r.URITemplate})
			})
		}
		return result, nil
	}
}

// theirs is what the connector that owns a prompt calls it.
func (g *Gateway) theirs(prompt string) string {
	if c := g.others.owner(prompts, prompt); c != nil {
		return prompt[len(g.nameOf(c, "")):]
	}
	return prompt
}

// refresh asks all connectors at once. One that cannot list keeps its tools, and calls of
// them are refused.
func (g *Gateway) refresh(ctx context.Context) {
	var asking sync.WaitGroup
	for _, c := range g.opts.Connectors {
		asking.Go(func() {
			if err := c.Refresh(ctx); err != nil {
				g.opts.Report(fmt.Sprintf("connector %s: its tools cannot be listed: %v", c.Name(), err))
			}
		})
	}
	asking.Wait()
}

// note keeps what the model of a session is shown.
func (g *Gateway) note(session string) {
	shown := map[string]policy.Digest{}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.offer == nil {
		return
	}
	for name, t := range g.offer.tools {
		if d, err := t.Spec().Definition(); err == nil {
			shown[name] = d
		}
	}
	g.shown[session] = shown
}
