package runs

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/assent-dev/assent/internal/config"
	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/tool/connector"
)

// connections are the connectors of a run, and what is to be told of them. Its servers are
// started before the first worker is opened, are shared by all workers, and end with the run.
type connections struct {
	*open.Connections

	mu   sync.Mutex
	news []string // what happened to them, for whoever prints next
}

// connect starts the connectors. One that cannot be reached has no tools and is told of; it
// is no reason for a run to end.
func (s *Session) connect(ctx context.Context, of []config.Connector) (c *connections, err error) {
	c = &connections{}
	reporting := func(o connector.Options) connector.Options {
		o.Report = c.happened
		return o
	}
	c.Connections, err = s.Base.Connect(ctx, of, open.Servers{Gate: s.GateConfig(s.InForce()), Options: reporting})
	c.tell()
	return c, err
}

// happened keeps what a person should know until somebody prints: a question may be on the
// screen.
func (c *connections) happened(e connector.Event) {
	if e.Kind == connector.EventConnected || e.Kind == connector.EventListed {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.news = append(c.news, e.String())
}

// tell prints what happened since.
func (c *connections) tell() {
	c.mu.Lock()
	news := c.news
	c.news = nil
	c.mu.Unlock()
	for _, line := range news {
		fmt.Fprintln(os.Stderr, "assent: "+printable(line))
	}
}

// close ends the servers.
func (c *connections) close() error {
	err := c.Connections.Close()
	c.tell()
	return err
}
