package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store/sessions"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/connector"
)

// Options say what a gateway works with.
type Options struct {
	// Gate is what the calls go through. Its Approver is who answers besides the client's
	// own user; nil means nobody.
	Gate approval.Config
	// Sessions is told of the sessions of clients, so that grants can be kept for them. Nil
	// means that nobody needs to be told.
	Sessions sessions.Store
	// Owner is this process: the sessions end with it, however it ends. Zero means that they
	// end when nothing was heard of them for long.
	Owner sessions.Process
	// Connectors are the servers behind the gateway, opened with the options of Callbacks. Close
	// them after the gateway.
	Connectors []*connector.Connector
	Callbacks  *Callbacks
	// Tools are offered beside those of the connectors, under their own names.
	Tools []tool.Tool
	// Plain offers the tools of the only connector under their own names. Otherwise they
	// are called CONNECTOR__TOOL.
	Plain bool
	// Configure has the last word on every tool; nil leaves them as they are.
	Configure func(...tool.Tool) ([]tool.Tool, error)
	// ClientAnswers lets the user of the agent answer, if the client can ask. Such an
	// answer holds once.
	ClientAnswers bool
	// Hold is how long a call is held before the client is told to call again; 0 means 50
	// seconds, which is shorter than most clients wait. Beat is how often a client is told
	// that it is alive; 0 means every 10 seconds.
	Hold, Beat time.Duration
	// Keep is how long an approved call may be claimed and a result be taken; 0 means 10
	// minutes.
	Keep time.Duration
	// Version is what clients are told.
	Version string
	// Report hears what a person should know. It must not block. Nil means nobody.
	Report func(text string)
}

// A Gateway is an MCP server. Make one with [New]; it is safe for concurrent use.
type Gateway struct {
	opts   Options
	server *mcp.Server
	users  *clientUsers
	ctx    context.Context
	stop   context.CancelFunc

	sessions   clients
	exchanges  exchanges
	owners     featureOwners
	methods    []tool.Tool // see [method]
	subscribed subscriptions
	routes     routes
	logLevel   logLevel

	syncing sync.Mutex // one at a time; guards offered
	offered map[string]policy.Digest

	mu     sync.Mutex
	offer  *offer
	active map[policy.Digest][]*activeCall
	shown  map[string]map[string]policy.Digest // by session: the definitions a model saw
}

// New returns a gateway.
func New(opts Options) (*Gateway, error) {
	if opts.Plain && len(opts.Connectors) != 1 {
		return nil, errors.New("tool names without a prefix need a single connector")
	}
	opts.Hold = cmp.Or(opts.Hold, 50*time.Second)
	opts.Beat = cmp.Or(opts.Beat, 10*time.Second)
	opts.Keep = cmp.Or(opts.Keep, 10*time.Minute)
	opts.Version = cmp.Or(opts.Version, "0")
	if opts.Report == nil {
		opts.Report = func(string) {}
	}
	if opts.Gate.Grants == nil {
		opts.Gate.Grants = approval.NewMemory(0) // outlives a change of the tools
	}
	if opts.Gate.Session == "" {
		opts.Gate.Session = rand.Text()
	}
	g := &Gateway{
		opts: opts, users: newClientUsers(),
		offered: map[string]policy.Digest{}, active: map[policy.Digest][]*activeCall{},
		shown: map[string]map[string]policy.Digest{},
	}
	g.ctx, g.stop = context.WithCancel(context.Background())
	g.opts.Gate.Approver = g.approver(opts.Gate.Approver)
	if origin := opts.Gate.Origin; origin != nil {
		g.opts.Gate.Origin = func(ctx context.Context) approval.Origin { return named(ctx, origin(ctx)) }
	}
	g.methods = methodsOf(g)
	if err := g.renew(nil); err != nil { // who may speak is known before the tools are
		g.stop()
		return nil, err
	}
	g.server = g.newServer()
	if opts.Callbacks != nil {
		opts.Callbacks.gateway.Store(g) // before anybody looks: what comes later is heard
	}
	g.features()
	if err := g.sync(); err != nil {
		g.stop()
		return nil, err
	}
	return g, nil
}

// approver is who is asked.
func (g *Gateway) approver(given approval.Approver) approval.Approver {
	switch {
	case !g.opts.ClientAnswers:
		return given
	case given == nil:
		return g.users
	}
	return approval.First(given, g.users)
}

// Close ends what waits and what runs. It takes no more calls.
func (g *Gateway) Close() {
	g.stop()
	g.mu.Lock()
	o := g.offer
	g.offer = nil
	var left []*activeCall
	for _, list := range g.active {
		for _, h := range list {
			if !h.attended {
				left = append(left, h)
			}
		}
	}
	g.mu.Unlock()
	for _, h := range left {
		h.expire()
	}
	if o != nil {
		o.retire()
	}
}

// connectorEvent hears of something that happened to a connector. The tools of one that is about
// to be connected are offered when it is: nobody is told of what cannot be called yet.
func (g *Gateway) connectorEvent(e connector.Event) {
	c := g.connector(e.Connector)
	switch {
	case c == nil:
	case e.Kind == connector.EventConnected, e.Kind == connector.EventListed && c.Err() == nil:
		go func() {
			if err := g.sync(); err != nil {
				g.opts.Report(fmt.Sprintf("the list of tools was not updated: %v", err))
			}
			if e.Kind == connector.EventConnected {
				g.syncPrompts(c)
				g.syncResources(c)
			}
		}()
	}
	g.opts.Report(e.String())
}

func (g *Gateway) newServer() *mcp.Server {
	caps := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}}
	for _, c := range g.opts.Connectors {
		s, err := c.Session() // one that comes later may have anything
		if err != nil || has(s, func(c *mcp.ServerCapabilities) bool { return c.Completions != nil }) {
			caps.Completions = &mcp.CompletionCapabilities{}
		}
	}
	options := &mcp.ServerOptions{
		Capabilities: caps, Instructions: g.instructions(), SubscribeHandler: g.subscribe, UnsubscribeHandler: g.unsubscribe,
	}
	if caps.Completions != nil {
		options.CompletionHandler = g.complete
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "assent", Title: "assent", Version: g.opts.Version}, options)
	server.AddReceivingMiddleware(g.lists, g.hides, g.hearsLogLevel)
	return server
}

// errClosed says that the gateway takes no more calls.
var errClosed = errors.New("the gateway is closed")

// instructions are those of the connectors that may speak, each under its name.
func (g *Gateway) instructions() (text string) {
	for _, c := range g.opts.Connectors {
		s, err := c.Session()
		if err != nil || s.InitializeResult().Instructions == "" ||
			g.denied(g.ctx, g.opts.Gate.Session, c.Name(), connector.Elicit, params{Message: "instructions"}) {
			continue
		}
		text += fmt.Sprintf("Connector %s says: %s\n", c.Name(), s.InitializeResult().Instructions)
	}
	return text
}
