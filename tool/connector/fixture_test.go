package connector_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/connector"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	os.Exit(m.Run())
}

// events keeps what connectors report, and lets tests wait for it.
type events struct {
	mu   sync.Mutex
	list []connector.Event
	more chan struct{}
}

func newEvents() *events { return &events{more: make(chan struct{}, 1000)} }

func (e *events) report(ev connector.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, ev)
	select {
	case e.more <- struct{}{}:
	default:
	}
}

func (e *events) count(kind connector.EventKind) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, ev := range e.list {
		if ev.Kind == kind {
			n++
		}
	}
	return n
}

// await waits until so many events of the kind were reported.
func (e *events) await(t *testing.T, kind connector.EventKind, n int) {
	t.Helper()
	for e.count(kind) < n {
		select {
		case <-e.more:
		case <-t.Context().Done():
			t.Fatalf("no %d events %q", n, kind)
		}
	}
}

// config is that of a connector named name to one of the test servers.
func config(name, server string) connector.Config {
	argv, env := mcptest.Command(server)
	return connector.Config{Name: name, Command: argv, Env: env}
}

// options are such that every change is seen at once.
func options(e *events) connector.Options {
	return connector.Options{
		Runner: launch.None{}, Environ: os.Environ(), Report: e.report, Fresh: time.Nanosecond,
		Backoff: func(int) time.Duration { return 0 },
	}
}

func open(t *testing.T, cfg connector.Config, opts connector.Options) *connector.Connector {
	t.Helper()
	c, err := connector.Open(t.Context(), cfg, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	return c
}

// asked is an approver that says yes and keeps what it was asked.
type asked struct {
	mu       sync.Mutex
	requests []*approval.Request
	answer   func(*approval.Request) approval.Decision
}

func (a *asked) Approve(_ context.Context, r *approval.Request) (approval.Decision, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, r)
	if a.answer != nil {
		return a.answer(r), nil
	}
	return r.Approve(""), nil
}

func (a *asked) last(t *testing.T) *approval.Request {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.requests) == 0 {
		t.Fatal("nobody was asked")
	}
	return a.requests[len(a.requests)-1]
}

func (a *asked) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.requests)
}

func guard(t *testing.T, cfg approval.Config, tools ...tool.Tool) *tool.Gate {
	t.Helper()
	g, err := tool.Guard(cfg, tools...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

// call calls NAME:TOOL with arguments.
func call(t *testing.T, g *tool.Gate, name string, args any) tool.Result {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	from, tl, _ := strings.Cut(name, ":")
	return tool.Call(t.Context(), g, policy.Call{Connector: from, Tool: tl, Arguments: data})
}

func mustText(t *testing.T, r tool.Result, want string) {
	t.Helper()
	if r.Err != nil || r.Text != want {
		t.Fatalf("got %q, %v; want %q", r.Text, r.Err, want)
	}
}

type args map[string]any

// cancelOnFile returns a context that is cancelled once the file is there.
func cancelOnFile(t *testing.T, file string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		mcptest.AwaitFile(t, file, true)
		cancel()
	}()
	return ctx, cancel
}
