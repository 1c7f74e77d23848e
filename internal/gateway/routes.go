package gateway

import (
	"context"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// routes know for whom each connector works at the moment, so that what it asks or says on
// the way reaches who made the call, and on the stream of that call.
type routes struct {
	mu sync.Mutex
	by map[string][]*caller // by connector
}

// enter notes that a connector works for a caller; leave when it has ended.
func (r *routes) enter(connector string, c *caller) (leave func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by == nil {
		r.by = map[string][]*caller{}
	}
	r.by[connector] = append(r.by[connector], c)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		all := r.by[connector]
		for i := range all {
			if all[i] == c {
				all[i] = all[len(all)-1]
				r.by[connector] = all[:len(all)-1]
				return
			}
		}
	}
}

// of returns a caller that the connector works for; nil if there is none, or if they are
// several clients, of which it does not say which it means.
func (r *routes) of(connector string) *caller {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.by[connector]
	if len(all) == 0 {
		return nil
	}
	for _, c := range all {
		if c.at != all[0].at {
			return nil
		}
	}
	return all[0]
}

// askable finds the client whose user or model a connector means, and a context in which it
// can be asked: that of the call that the question is part of.
func (g *Gateway) askable(ctx context.Context, connector string) (context.Context, *mcp.ServerSession, context.CancelFunc, error) {
	c := g.routes.of(connector)
	if c == nil || c.at == nil {
		at, err := g.people.only()
		return ctx, at, func() {}, err
	}
	of, cancel := context.WithCancelCause(c.ctx)
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	return of, c.at, func() { stop(); cancel(errors.New("it was asked")) }, nil
}
