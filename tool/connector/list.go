package connector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Limits on what a server may list.
const (
	maxTools    = 2000
	maxPages    = 100
	maxToolName = 128
)

// A listing is what a server offers, as it was last looked at.
type listing struct {
	at      time.Time
	changes int64    // how many changes the server had announced before
	names   []string // in the server's order
	entries map[string]*entry
	doubt   string // why a person has to look at the connector as such
}

// lists keeps the listing of a connector up to date.
type lists struct {
	c       *Connector
	now     atomic.Pointer[listing]
	changes atomic.Int64 // how often the server said that its list changed

	refreshing sync.Mutex // one at a time
}

func newLists(c *Connector) *lists {
	l := &lists{c: c}
	l.now.Store(&listing{entries: map[string]*entry{}})
	return l
}

func (l *lists) current() *listing { return l.now.Load() }

// stale says that the server's list is not what it was. It is looked at right away, so
// that whoever shows it to a model hears of it.
func (l *lists) stale() {
	l.changes.Add(1)
	go func() {
		s, err := l.c.connected()
		if err == nil {
			err = l.fresh(context.Background(), s)
		}
		if err != nil {
			l.c.report(EventMisbehaved, "", fmt.Sprintf("its list changed and cannot be read: %v", err))
		}
	}()
}

// hear takes the word that the list changed before any answer that follows it: what is
// called next is judged by the new list.
func (l *lists) hear(r *jsonrpc.Request) bool {
	if r.Method != "notifications/tools/list_changed" {
		return false
	}
	l.stale()
	return true
}

// fresh lists the tools again if the list is old or said to be another.
func (l *lists) fresh(ctx context.Context, s *session) error {
	now := l.current()
	if now.changes == l.changes.Load() && time.Since(now.at) < l.c.opts.Fresh {
		return nil
	}
	return l.refresh(ctx, s)
}

// refresh lists the tools and compares them with what is pinned.
func (l *lists) refresh(ctx context.Context, s *session) error {
	l.refreshing.Lock()
	defer l.refreshing.Unlock()
	changes := l.changes.Load()
	ctx, cancel := context.WithTimeout(ctx, l.c.opts.ConnectTimeout)
	defer cancel()
	tools, err := listAll(ctx, s.ClientSession)
	if err != nil {
		return err
	}
	before := l.current()
	next, err := l.c.inspect(ctx, tools, before)
	if err != nil {
		return err
	}
	next.changes = changes
	l.now.Store(next)
	l.c.opts.Names.Set(l.c.cfg.Name, next.names...)
	if !next.same(before) {
		l.c.report(EventListed, "", fmt.Sprintf("%d tools", len(next.names)))
	}
	return nil
}

// agreed puts an entry that a person agreed to in its place.
func (l *lists) agreed(ctx context.Context, e *entry) error {
	l.refreshing.Lock()
	defer l.refreshing.Unlock()
	before := l.current()
	next := *before
	next.entries = maps.Clone(before.entries)
	if now := next.entries[e.now.tool.Name]; now != nil && now.now.hash == e.now.hash {
		next.entries[e.now.tool.Name] = e
	}
	l.now.Store(&next)
	l.c.report(EventListed, "", fmt.Sprintf("%d tools", len(next.names)))
	return l.c.agreeLaunch(ctx)
}

// same reports whether models are shown the same.
func (l *listing) same(o *listing) bool {
	return l.doubt == o.doubt && slices.Equal(l.names, o.names) && !slices.ContainsFunc(l.names, func(name string) bool {
		return !l.entries[name].same(o.entries[name])
	})
}

// listAll lists the tools, page by page.
func listAll(ctx context.Context, s *mcp.ClientSession) ([]*mcp.Tool, error) {
	if caps := s.InitializeResult().Capabilities; caps == nil || caps.Tools == nil {
		return nil, nil // it has none
	}
	var out []*mcp.Tool
	params := &mcp.ListToolsParams{}
	for range maxPages {
		page, err := s.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		if out = append(out, page.Tools...); len(out) > maxTools {
			return nil, fmt.Errorf("it lists more than %d tools", maxTools)
		}
		if page.NextCursor == "" {
			return out, nil
		}
		params.Cursor = page.NextCursor
	}
	return nil, fmt.Errorf("its list has more than %d pages", maxPages)
}

// inspect makes a listing of what the server listed.
func (c *Connector) inspect(ctx context.Context, tools []*mcp.Tool, before *listing) (*listing, error) {
	known, err := c.acquainted(ctx)
	if err != nil {
		return nil, err
	}
	next := &listing{at: time.Now(), entries: make(map[string]*entry, len(tools)), doubt: known.doubt}
	looks := map[string]string{} // skeletons, and whose they are
	for _, t := range tools {
		if err := nameable(t, looks); err != nil {
			c.report(EventMisbehaved, "", fmt.Sprintf("a tool is left out: %v", err))
			continue
		}
		e, err := c.entryFor(ctx, t, known, looks[skeleton(t.Name)], before.entries[t.Name])
		if err != nil {
			c.report(EventMisbehaved, t.Name, fmt.Sprintf("it is left out: %v", err))
			continue
		}
		looks[skeleton(t.Name)], looks[strings.ToLower(t.Name)] = t.Name, t.Name
		next.names, next.entries[t.Name] = append(next.names, t.Name), e
	}
	if !known.kept {
		err = c.meet(ctx, known)
	}
	return next, err
}

// nameable refuses names that rules cannot tell apart or cannot name.
func nameable(t *mcp.Tool, seen map[string]string) error {
	switch {
	case t == nil || t.Name == "":
		return errors.New("it has no name")
	case len(t.Name) > maxToolName:
		return fmt.Errorf("its name has %d bytes", len(t.Name))
	case strings.ContainsFunc(t.Name, unnameable):
		return fmt.Errorf("its name %q has characters that rules cannot name", t.Name)
	case isMethod(t.Name):
		return fmt.Errorf("its name %q is that of a method of the protocol", t.Name)
	case seen[strings.ToLower(t.Name)] != "":
		return fmt.Errorf("its name %q is that of %q; names that differ in case only are the same", t.Name,
			seen[strings.ToLower(t.Name)])
	}
	return nil
}
