package gateway

import (
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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
		g.people.enter(id, at)
		go func() {
			_ = at.Wait() // however it ends
			g.people.leave(id)
			g.sessions.forget(id)
			g.forget(id)
		}()
	}
	return id
}

// forget ends what a session has left behind: nobody else may claim it.
func (g *Gateway) forget(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.shown, session)
	for _, list := range g.held {
		for _, h := range list {
			if h.session == session {
				h.end()
			}
		}
	}
}

// sessions are the clients of a gateway that are being waited for.
type sessions struct {
	mu    sync.Mutex
	known map[string]bool
}

// first reports whether the session was not known yet.
func (s *sessions) first(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]bool{}
	}
	was := s.known[id]
	s.known[id] = true
	return !was
}

func (s *sessions) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, id)
}
