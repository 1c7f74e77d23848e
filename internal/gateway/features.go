package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/assent-dev/assent/tool/connector"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// features offers what connectors have besides tools: prompts and resources. They change
// nothing, so no gate is in front of them; each says whose it is.
func (g *Gateway) features() {
	for _, c := range g.opts.Connectors {
		g.syncPrompts(c)
		g.syncResources(c)
	}
}

// others keeps what is offered besides tools, so that what is gone can be withdrawn.
type others struct {
	mu sync.Mutex
	by map[string][]string // by kind and connector
}

// replace notes what there is now and returns what there is no more.
func (o *others) replace(kind string, c *connector.Connector, now []string) (gone []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by == nil {
		o.by = map[string][]string{}
	}
	key := kind + " of " + c.Name()
	gone = slices.DeleteFunc(o.by[key], func(name string) bool { return slices.Contains(now, name) })
	o.by[key] = now
	return gone
}

// has reports whether something was there when last looked.
func (o *others) has(kind string, c *connector.Connector, name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Contains(o.by[kind+" of "+c.Name()], name)
}

// heard passes on what a connector tells everybody.
func (g *Gateway) heard(from string, params mcp.Params) {
	c := g.connector(from)
	if c == nil {
		return
	}
	switch p := params.(type) {
	case *mcp.PromptListChangedParams:
		go g.syncPrompts(c)
	case *mcp.ResourceListChangedParams:
		go g.syncResources(c)
	case *mcp.ResourceUpdatedNotificationParams:
		go func() { _ = g.server.ResourceUpdated(g.ctx, p) }() // clients that are gone miss it
	default:
		g.log(from, params) // before the result of the call that it is part of
	}
}

func (g *Gateway) connector(name string) *connector.Connector {
	for _, c := range g.opts.Connectors {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

// origin says whose words the rest is.
func (g *Gateway) origin(c *connector.Connector, text string) string {
	if g.opts.Plain {
		return text
	}
	return fmt.Sprintf("[from connector %s] %s", c.Name(), text)
}

// tidily has the SDK take a definition, which it may panic at.
func (g *Gateway) tidily(c *connector.Connector, what string, add func()) {
	defer func() {
		if r := recover(); r != nil {
			g.opts.Report(fmt.Sprintf("connector %s: %s is not offered: %v", c.Name(), what, r))
		}
	}()
	add()
}

func (g *Gateway) syncPrompts(c *connector.Connector) {
	s, err := c.Session()
	if err != nil || !has(s, func(c *mcp.ServerCapabilities) bool { return c.Prompts != nil }) {
		return
	}
	var names []string
	for p, err := range s.Prompts(g.ctx, nil) {
		if err != nil {
			g.opts.Report(fmt.Sprintf("connector %s: its prompts cannot be listed: %v", c.Name(), err))
			return
		}
		theirs, ours := p.Name, *p
		ours.Name, ours.Description = g.nameOf(c, theirs), g.origin(c, p.Description)
		names = append(names, ours.Name)
		g.tidily(c, "prompt "+theirs, func() {
			g.server.AddPrompt(&ours, func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				s, err := c.Session()
				if err != nil {
					return nil, err
				}
				return s.GetPrompt(ctx, &mcp.GetPromptParams{Name: theirs, Arguments: r.Params.Arguments})
			})
		})
	}
	g.server.RemovePrompts(g.others.replace("prompts", c, names)...)
}

func (g *Gateway) syncResources(c *connector.Connector) {
	s, err := c.Session()
	if err != nil || !has(s, func(c *mcp.ServerCapabilities) bool { return c.Resources != nil }) {
		return
	}
	read := func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		s, err := c.Session()
		if err != nil {
			return nil, err
		}
		return s.ReadResource(ctx, &mcp.ReadResourceParams{URI: r.Params.URI})
	}
	var uris, templates []string
	for r, err := range s.Resources(g.ctx, nil) {
		if err != nil {
			g.opts.Report(fmt.Sprintf("connector %s: its resources cannot be listed: %v", c.Name(), err))
			return
		}
		ours := *r
		ours.Description = g.origin(c, r.Description)
		uris = append(uris, r.URI)
		g.tidily(c, "resource "+r.URI, func() { g.server.AddResource(&ours, read) })
	}
	g.server.RemoveResources(g.others.replace("resources", c, uris)...)
	for r, err := range s.ResourceTemplates(g.ctx, nil) {
		if err != nil {
			return // servers without templates say that there is no such method
		}
		ours := *r
		ours.Description = g.origin(c, r.Description)
		templates = append(templates, r.URITemplate)
		g.tidily(c, "resource "+r.URITemplate, func() { g.server.AddResourceTemplate(&ours, read) })
	}
	g.server.RemoveResourceTemplates(g.others.replace("templates", c, templates)...)
}

// has reports whether a server says that it can do something.
func has(s *mcp.ClientSession, can func(*mcp.ServerCapabilities) bool) bool {
	caps := s.InitializeResult().Capabilities
	return caps != nil && can(caps)
}

// complete asks the connectors for the end of a word, in order, until one knows.
func (g *Gateway) complete(ctx context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	errs := []error{errors.New("nobody knows how to complete this")}
	for _, c := range g.opts.Connectors {
		s, err := c.Session()
		if err == nil {
			p := *r.Params
			if p.Ref != nil && p.Ref.Name != "" && !g.opts.Plain {
				ref := *p.Ref
				var ours bool
				if ref.Name, ours = cutName(c, ref.Name); !ours {
					continue
				}
				p.Ref = &ref
			}
			var result *mcp.CompleteResult
			if result, err = s.Complete(ctx, &p); err == nil {
				return result, nil
			}
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// cutName returns the name of a prompt without that of the connector, if it is its own. It
// decides nothing: who is asked in error says that there is no such prompt.
func cutName(c *connector.Connector, name string) (string, bool) {
	prefix := c.Name() + "__"
	if len(name) > len(prefix) && name[:len(prefix)] == prefix {
		return name[len(prefix):], true
	}
	return name, false
}
