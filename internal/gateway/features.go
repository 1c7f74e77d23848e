package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/tool/connector"
)

// features offers what connectors have besides tools: prompts and resources. Each says whose
// it is.
func (g *Gateway) features() {
	for _, c := range g.opts.Connectors {
		g.syncPrompts(c)
		g.syncResources(c)
	}
}

// A kind is a kind of what is offered besides tools.
type kind string

const (
	prompts   kind = "prompt"
	resources kind = "resource"
	templates kind = "resource template"
)

// featureOwners keep what is offered besides tools and whose it is. A name has one owner, the first
// that listed it: nobody's requests go to another because that one lists the same name.
type featureOwners struct {
	mu sync.Mutex
	by map[kind]map[string]*connector.Connector
}

// claim makes a connector the owner of a name, if it has no other, and reports whether it is.
func (o *featureOwners) claim(k kind, c *connector.Connector, name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.by == nil {
		o.by = map[kind]map[string]*connector.Connector{prompts: {}, resources: {}, templates: {}}
	}
	if owner := o.by[k][name]; owner != nil && owner != c {
		return false
	}
	o.by[k][name] = c
	return true
}

// keep forgets what a connector owned besides these names, and returns it.
func (o *featureOwners) keep(k kind, c *connector.Connector, names []string) (gone []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := make(map[string]bool, len(names))
	for _, name := range names {
		kept[name] = true
	}
	for name, owner := range o.by[k] {
		if owner == c && !kept[name] {
			gone = append(gone, name)
			delete(o.by[k], name)
		}
	}
	return gone
}

// owner returns whose something is; nil if nobody lists it.
func (o *featureOwners) owner(k kind, name string) *connector.Connector {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.by[k][name]
}

// has reports whether the connector listed something when last looked.
func (o *featureOwners) has(k kind, c *connector.Connector, name string) bool {
	return o.owner(k, name) == c
}

// heard passes on what a connector tells everybody, unless it is denied.
func (g *Gateway) heard(from string, said mcp.Params) {
	c := g.connector(from)
	if c == nil {
		return
	}
	switch p := said.(type) {
	case *mcp.PromptListChangedParams:
		go g.syncPrompts(c)
	case *mcp.ResourceListChangedParams:
		go g.syncResources(c)
	case *mcp.ResourceUpdatedNotificationParams:
		if g.subscribed.to(p.URI) == c &&
			!g.denied(g.ctx, g.opts.Gate.Session, from, connector.Subscribe, params{URI: p.URI}) {
			go func() { _ = g.server.ResourceUpdated(g.ctx, p) }() // clients that are gone miss it
		}
	default:
		g.log(from, said) // before the result of the call that it is part of
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

// only returns the only connector that can do something; nil if there is none or more. One
// that is not connected may be able to.
func (g *Gateway) only(can func(*mcp.ServerCapabilities) bool) (one *connector.Connector) {
	for _, c := range g.opts.Connectors {
		if s, err := c.Session(); err == nil && !has(s, can) {
			continue
		}
		if one != nil {
			return nil
		}
		one = c
	}
	return one
}

// origin says whose words the rest is.
func (g *Gateway) origin(c *connector.Connector, text string) string {
	if g.opts.Plain {
		return text
	}
	return fmt.Sprintf("[from connector %s] %s", c.Name(), text)
}

// put offers something of a connector, unless another has it. The SDK may panic at what a
// server says about it.
func (g *Gateway) put(k kind, c *connector.Connector, name string, add func()) {
	defer func() {
		if r := recover(); r != nil {
			g.opts.Report(fmt.Sprintf("connector %s: %s %s is not offered: %v", c.Name(), k, name, r))
		}
	}()
	if !g.owners.claim(k, c, name) {
		g.opts.Report(fmt.Sprintf("connector %s: %s %s is not offered: connector %s has it", c.Name(), k, name,
			g.owners.owner(k, name).Name()))
		return
	}
	add()
}

// A server may list so much in so long. Which of many names the model picks tells the server
// something too.
const (
	maxListed   = 10000
	listTimeout = 30 * time.Second
)

var errTooMany = fmt.Errorf("there are more than %d", maxListed)

func (g *Gateway) syncPrompts(c *connector.Connector) {
	s, err := c.Session()
	if err != nil || !has(s, func(c *mcp.ServerCapabilities) bool { return c.Prompts != nil }) {
		return
	}
	ctx, cancel := context.WithTimeout(g.ctx, listTimeout)
	defer cancel()
	var names []string
	for p, err := range s.Prompts(ctx, nil) {
		if err == nil && len(names) == maxListed {
			err = errTooMany
		}
		if err != nil {
			g.opts.Report(fmt.Sprintf("connector %s: its prompts cannot be listed: %v", c.Name(), err))
			return
		}
		ours := *p
		ours.Name, ours.Description = g.nameOf(c, p.Name), g.origin(c, p.Description)
		names = append(names, ours.Name)
		g.put(prompts, c, ours.Name, func() { g.server.AddPrompt(&ours, g.prompt(c, p.Name)) })
	}
	g.server.RemovePrompts(g.owners.keep(prompts, c, names)...)
}

// prompt is how clients get a prompt of a connector, which calls it so.
func (g *Gateway) prompt(c *connector.Connector, theirs string) mcp.PromptHandler {
	return func(ctx context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		from := callerOf(g, ctx, r)
		from.inRounds(r.ProtocolVersion(), r.Params.InputResponses, r.Params.RequestState)
		answer := g.pass(from, c, connector.GetPrompt, params{Name: theirs, Arguments: r.Params.Arguments})
		if answer.inputs != nil {
			return &mcp.GetPromptResult{InputRequests: answer.inputs, RequestState: answer.state}, nil
		}
		return valueOf[*mcp.GetPromptResult](answer)
	}
}

func (g *Gateway) syncResources(c *connector.Connector) {
	s, err := c.Session()
	if err != nil || !has(s, hasResources) {
		return
	}
	ctx, cancel := context.WithTimeout(g.ctx, listTimeout)
	defer cancel()
	read := g.reader(c)
	var uris, theirs []string
	for r, err := range s.Resources(ctx, nil) {
		if err == nil && len(uris) == maxListed {
			err = errTooMany
		}
		if err != nil {
			g.opts.Report(fmt.Sprintf("connector %s: its resources cannot be listed: %v", c.Name(), err))
			return
		}
		ours := *r
		ours.Description = g.origin(c, r.Description)
		uris = append(uris, r.URI)
		g.put(resources, c, r.URI, func() { g.server.AddResource(&ours, read) })
	}
	g.server.RemoveResources(g.owners.keep(resources, c, uris)...)
	for r, err := range s.ResourceTemplates(ctx, nil) {
		if err != nil || len(theirs) == maxListed {
			break // servers without templates say that there is no such method
		}
		ours := *r
		ours.Description = g.origin(c, r.Description)
		theirs = append(theirs, r.URITemplate)
		g.put(templates, c, r.URITemplate, func() { g.server.AddResourceTemplate(&ours, read) })
	}
	g.server.RemoveResourceTemplates(g.owners.keep(templates, c, theirs)...)
	if g.owners.owner(templates, anyURI) == nil {
		g.server.AddResourceTemplate(&mcp.ResourceTemplate{Name: "any", URITemplate: anyURI}, g.unlisted)
	}
}

func hasResources(c *mcp.ServerCapabilities) bool { return c.Resources != nil }

// anyURI is a template for what no connector lists, such as a link in a tool's result. It is
// not listed either: where one connector has resources, such a read is for that one.
const anyURI = "{+uri}"

func (g *Gateway) unlisted(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	c := g.only(hasResources)
	if c == nil {
		return nil, mcp.ResourceNotFoundError(r.Params.URI)
	}
	return g.reader(c)(ctx, r)
}

// reader is how clients read resources of a connector.
func (g *Gateway) reader(c *connector.Connector) mcp.ResourceHandler {
	return func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		from := callerOf(g, ctx, r)
		from.inRounds(r.ProtocolVersion(), r.Params.InputResponses, r.Params.RequestState)
		answer := g.pass(from, c, connector.ReadResource, params{URI: r.Params.URI})
		if answer.inputs != nil {
			return &mcp.ReadResourceResult{InputRequests: answer.inputs, RequestState: answer.state}, nil
		}
		return valueOf[*mcp.ReadResourceResult](answer)
	}
}

// has reports whether a server says that it can do something.
func has(s *mcp.ClientSession, can func(*mcp.ServerCapabilities) bool) bool {
	caps := s.InitializeResult().Capabilities
	return caps != nil && can(caps)
}

// complete asks the connector whose prompt or resource it is for the end of a word.
func (g *Gateway) complete(ctx context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	ref := *r.Params.Ref
	c := g.owners.owner(templates, ref.URI)
	if c == nil {
		c = g.owners.owner(resources, ref.URI)
	}
	if ref.Name != "" {
		c, ref.Name = g.owners.owner(prompts, ref.Name), g.theirs(ref.Name)
	}
	if c == nil && g.opts.Plain {
		c = g.only(func(c *mcp.ServerCapabilities) bool { return c.Completions != nil })
	}
	if c == nil {
		return nil, errors.New("no connector lists the prompt or resource to complete")
	}
	p := params{Ref: &ref, Argument: &r.Params.Argument, Context: r.Params.Context}
	return valueOf[*mcp.CompleteResult](g.pass(callerOf(g, ctx, r), c, connector.Complete, p))
}

// subscriptions are the resources of which a connector was asked to tell when they change.
type subscriptions struct {
	mu sync.Mutex
	by map[string]*connector.Connector // by URI
}

func (s *subscriptions) add(uri string, c *connector.Connector) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[string]*connector.Connector{}
	}
	s.by[uri] = c
}

func (s *subscriptions) remove(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.by, uri)
}

// to returns who was asked; nil if nobody was.
func (s *subscriptions) to(uri string) *connector.Connector {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.by[uri]
}

// subscribe has the connector that lists a resource tell when it changes, or the only one
// that can. Which clients want to hear of it the SDK knows.
func (g *Gateway) subscribe(ctx context.Context, r *mcp.SubscribeRequest) error {
	c := g.owners.owner(resources, r.Params.URI)
	if c == nil {
		c = g.only(subscribes)
	}
	if c == nil {
		return fmt.Errorf("no connector lists the resource %s", r.Params.URI)
	}
	if answer := g.pass(callerOf(g, ctx, r), c, connector.Subscribe, params{URI: r.Params.URI}); answer.err != nil {
		return answer.err
	}
	g.subscribed.add(r.Params.URI, c)
	return nil
}

// unsubscribe undoes that for the connector if nobody else can want it. What was not
// subscribed to is no connector's business.
func (g *Gateway) unsubscribe(ctx context.Context, r *mcp.UnsubscribeRequest) error {
	c := g.subscribed.to(r.Params.URI)
	if c == nil {
		return nil
	}
	for s := range g.server.Sessions() {
		if s != r.Session {
			return nil // another client may still listen; one message too many does no harm
		}
	}
	g.subscribed.remove(r.Params.URI)
	// The client need not wait for it: it may be gone.
	_, err := g.once(context.WithoutCancel(ctx), g.sessionOf(r.Session), c.Name(), connector.Unsubscribe,
		params{URI: r.Params.URI})
	return err
}

// subscribes reports whether a server tells when a resource changes.
func subscribes(c *mcp.ServerCapabilities) bool { return c.Resources != nil && c.Resources.Subscribe }

// isPlainURI reports whether a URI is written in the one way in which a rule would name it.
// Of others nobody here knows what a server takes them for: file:///notes/../secret and
// file:///%73ecret may both be file:///secret.
func isPlainURI(uri string) bool {
	u, err := url.Parse(uri)
	switch {
	case err != nil, u.Scheme == "", !strings.HasPrefix(uri, u.Scheme+":"), // in lower case
		strings.ContainsAny(uri, `#\`), strings.ContainsFunc(uri, func(c rune) bool { return c <= ' ' || c > '~' }),
		!plainEscapes(uri):
		return false
	case u.Scheme == "file" && (u.Host != "" || strings.Contains(uri, "?")):
		return false
	case (u.Scheme == "http" || u.Scheme == "https") && (u.Host != strings.ToLower(u.Host) || u.User != nil):
		return false
	}
	p, _, _ := strings.Cut(strings.TrimPrefix(uri, u.Scheme+":"), "?")
	p = strings.TrimPrefix(p, "//")
	return p == "" || p == path.Clean(p) && p != ".." && !strings.HasPrefix(p, "../") // no part that a server may leave out
}

// plainEscapes reports whether nothing is escaped that need not be, or that would change the
// parts of a path.
func plainEscapes(uri string) bool {
	for i := 0; i < len(uri); i++ {
		if uri[i] != '%' {
			continue
		}
		c, err := url.PathUnescape(uri[i:min(i+3, len(uri))])
		if err != nil || uri[i:i+3] != strings.ToUpper(uri[i:i+3]) ||
			strings.ContainsAny(strings.ToLower(c), "abcdefghijklmnopqrstuvwxyz0123456789-._~/\\\x00") {
			return false
		}
	}
	return true
}
