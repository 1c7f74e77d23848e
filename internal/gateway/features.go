package gateway

import (
	"context"
	"errors"
	"fmt"

	"github.com/assent-dev/assent/tool/connector"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// features are what connectors offer besides tools: prompts and resources. They change
// nothing, so no gate is in front of them; each says whose it is.
func (g *Gateway) features() {
	for _, c := range g.opts.Connectors {
		g.syncPrompts(g.ctx, c)
		g.syncResources(g.ctx, c)
	}
}

// heard passes on what a connector tells everybody.
func (g *Gateway) heard(from, method string, params mcp.Params) {
	c := g.connector(from)
	if c == nil {
		return
	}
	switch p := params.(type) {
	case *mcp.PromptListChangedParams:
		go g.syncPrompts(g.ctx, c)
	case *mcp.ResourceListChangedParams:
		go g.syncResources(g.ctx, c)
	case *mcp.ResourceUpdatedNotificationParams:
		go func() { _ = g.server.ResourceUpdated(g.ctx, p) }() // clients that are gone miss it
	case *mcp.LoggingMessageParams:
		go g.log(from, p)
	default:
		g.opts.Report(fmt.Sprintf("connector %s sent %s", from, method))
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

// log passes a log message on, under the connector's name.
func (g *Gateway) log(from string, p *mcp.LoggingMessageParams) {
	said := *p
	said.Logger = from
	if p.Logger != "" {
		said.Logger += ": " + p.Logger
	}
	for s := range g.server.Sessions() {
		_ = s.Log(g.ctx, &said) // to those who want it
	}
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

func (g *Gateway) syncPrompts(ctx context.Context, c *connector.Connector) {
	s, err := c.Session()
	if err != nil || s.InitializeResult().Capabilities == nil || s.InitializeResult().Capabilities.Prompts == nil {
		return
	}
	for p, err := range s.Prompts(ctx, nil) {
		if err != nil {
			g.opts.Report(fmt.Sprintf("connector %s: its prompts cannot be listed: %v", c.Name(), err))
			return
		}
		theirs, ours := p.Name, *p
		ours.Name, ours.Description = g.nameOf(c, theirs), g.origin(c, p.Description)
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
}

func (g *Gateway) syncResources(ctx context.Context, c *connector.Connector) {
	s, err := c.Session()
	if err != nil || s.InitializeResult().Capabilities == nil || s.InitializeResult().Capabilities.Resources == nil {
		return
	}
	read := func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		s, err := c.Session()
		if err != nil {
			return nil, err
		}
		return s.ReadResource(ctx, &mcp.ReadResourceParams{URI: r.Params.URI})
	}
	for r, err := range s.Resources(ctx, nil) {
		if err != nil {
			g.opts.Report(fmt.Sprintf("connector %s: its resources cannot be listed: %v", c.Name(), err))
			return
		}
		ours := *r
		ours.Description = g.origin(c, r.Description)
		g.tidily(c, "resource "+r.URI, func() { g.server.AddResource(&ours, read) })
	}
	for r, err := range s.ResourceTemplates(ctx, nil) {
		if err != nil {
			return // servers without templates say that there is no such method
		}
		ours := *r
		ours.Description = g.origin(c, r.Description)
		g.tidily(c, "resource "+r.URITemplate, func() { g.server.AddResourceTemplate(&ours, read) })
	}
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
