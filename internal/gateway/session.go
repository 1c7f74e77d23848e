package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/store/sessions"
)

// sessionOf is what a client's session is called in rules, grants and records. Clients over
// HTTP have one each, as long as they say so; those that do not share one.
func (g *Gateway) sessionOf(s mcp.Session) string {
	at, ok := s.(*mcp.ServerSession)
	if !ok || at == nil || at.ID() == "" {
		return g.opts.Gate.Session
	}
	id := g.opts.Gate.Session + "/" + at.ID()
	if g.sessions.first(id) {
		end := g.enter(id, at)
		go func() {
			_ = at.Wait() // however it ends
			end()
			g.sessions.forget(id)
		}()
	}
	return id
}

// enter begins a session, and returns how to end it. A session that cannot be noted has no
// grants; its calls are asked each time.
func (g *Gateway) enter(id string, at *mcp.ServerSession) (end func()) {
	g.users.enter(id, at)
	if g.opts.Sessions != nil {
		now := time.Now()
		s := sessions.Session{ID: id, Kind: sessions.KindGateway, Owner: g.opts.Owner, Begun: now, Seen: now}
		if err := g.opts.Sessions.BeginSession(g.ctx, s); err != nil {
			g.opts.Report(fmt.Sprintf("answers cannot be saved for this session: %v", err))
		}
	}
	return func() {
		g.users.leave(id)
		g.forget(id)
		if g.opts.Sessions != nil {
			err := g.opts.Sessions.EndSession(context.WithoutCancel(g.ctx), id)
			if err != nil && !errors.Is(err, sessions.ErrNoSession) {
				g.opts.Report(fmt.Sprintf("the session cannot be ended: %v", err))
			}
		}
	}
}

// forget ends what a session has left behind: nobody else may claim it.
func (g *Gateway) forget(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.shown, session)
	for _, list := range g.active {
		for _, h := range list {
			if h.session == session {
				h.end()
			}
		}
	}
}

// clients are the sessions of a gateway whose end is being waited for.
type clients struct {
	mu    sync.Mutex
	known map[string]bool
}

// first reports whether the session was not known yet.
func (s *clients) first(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]bool{}
	}
	was := s.known[id]
	s.known[id] = true
	return !was
}

func (s *clients) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, id)
}
