package connector

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/assent-dev/assent/tool"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A Passing is what travels with a call through the gate, for a caller who speaks the
// protocol too.
type Passing struct {
	// Meta is what the caller says about the call, passed on to the server.
	Meta map[string]any
	// Progress hears how far the call is, while it runs. It must not block. Nil means nobody.
	Progress func(*mcp.ProgressNotificationParams)
}

type passingKey struct{}

// WithPassing returns a context in which calls pass this on, and in which a result is
// always a [Result].
func WithPassing(ctx context.Context, p Passing) context.Context {
	return context.WithValue(ctx, passingKey{}, p)
}

func passing(ctx context.Context) (Passing, bool) {
	p, ok := ctx.Value(passingKey{}).(Passing)
	return p, ok
}

// hears is who hears of the progress of a call in this context, if anybody.
func hears(ctx context.Context) func(*mcp.ProgressNotificationParams) {
	if p, ok := passing(ctx); ok {
		return p.Progress
	}
	w := tool.Progress(ctx)
	if w == io.Discard {
		return nil
	}
	return func(p *mcp.ProgressNotificationParams) {
		far := strconv.FormatFloat(p.Progress, 'g', -1, 64)
		if p.Total > 0 {
			far += " of " + strconv.FormatFloat(p.Total, 'g', -1, 64)
		}
		_, _ = fmt.Fprintf(w, "%s %s\n", far, p.Message) // who watches does not matter to the call
	}
}

// listeners are who hears of the progress of calls, by their token.
type listeners struct {
	mu   sync.Mutex
	next int
	by   map[string]func(*mcp.ProgressNotificationParams)
}

// add returns the token of a new listener, and how to remove it. Nobody has none.
func (l *listeners) add(hear func(*mcp.ProgressNotificationParams)) (token string, remove func()) {
	if hear == nil {
		return "", func() {}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]func(*mcp.ProgressNotificationParams){}
	}
	l.next++
	token = ownID + strconv.Itoa(l.next)
	l.by[token] = hear
	return token, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.by, token)
	}
}

// hear takes a message that is about progress.
func (l *listeners) hear(r *jsonrpc.Request) bool {
	if r.Method != "notifications/progress" {
		return false
	}
	var p mcp.ProgressNotificationParams
	if json.Unmarshal(r.Params, &p) == nil {
		l.tell(&p)
	}
	return true
}

func (l *listeners) tell(p *mcp.ProgressNotificationParams) {
	token, _ := p.ProgressToken.(string)
	l.mu.Lock()
	hear := l.by[token]
	l.mu.Unlock()
	if hear != nil {
		hear(p)
	}
}
