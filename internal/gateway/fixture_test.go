package gateway_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/gateway"
	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/internal/reexec"
	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/tool/connector"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	reexec.Main(map[string]reexec.Role{
		"pipe":  func([]string) error { return pipe() },
		"spool": func(args []string) error { return startCalls(args[0]) },
	})
	os.Exit(m.Run())
}

// A world is a gateway in front of test servers.
type world struct {
	*gateway.Gateway
	connectors []*connector.Connector
	records    *records
	seen       string // a folder, with what reached each server
}

// start starts a gateway in front of servers, by connector name.
func start(t testing.TB, opts gateway.Options, servers map[string]string) *world {
	t.Helper()
	w := &world{records: newRecords(), seen: t.TempDir()}
	var configs []connector.Config
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		argv, env := mcptest.Command(servers[name])
		env[mcptest.Seen] = filepath.Join(w.seen, name)
		configs = append(configs, connector.Config{Name: name, Command: argv, Env: env})
	}
	var err error
	callbacks := &gateway.Callbacks{}
	w.connectors, err = connector.OpenAll(t.Context(), configs, func(connector.Config) connector.Options {
		return callbacks.Listen(connector.Options{Runner: launch.None{}, Environ: os.Environ(), Backoff: func(int) time.Duration { return 0 }})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connector.CloseAll(w.connectors) })
	opts.Connectors, opts.Callbacks = w.connectors, callbacks
	if opts.Gate.Recorder == nil {
		opts.Gate.Recorder = w.records
	}
	if w.Gateway, err = gateway.New(opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// connect connects a client over two pipes.
func (w *world) connect(t *testing.T, options *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	return w.connectAs(t, "2025-06-18", options)
}

// connectAs connects a client that speaks this version of the protocol.
func (w *world) connectAs(t *testing.T, version string, options *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	theirIn, ourOut := io.Pipe()
	ourIn, theirOut := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- w.Serve(context.Background(), theirIn, theirOut, func() error { return errors.Join(theirIn.Close(), theirOut.Close()) })
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options)
	s, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: ourIn, Writer: ourOut}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.InitializeResult().ProtocolVersion; got != version {
		t.Fatalf("it speaks %s, want %s", got, version)
	}
	t.Cleanup(func() {
		s.Close()
		<-ended
	})
	return s
}

// records are the events of a gate, for tests to wait for.
type records struct {
	mu   sync.Mutex
	list []approval.Event
	more chan struct{}
}

func newRecords() *records { return &records{more: make(chan struct{}, 10000000)} }

func (r *records) Record(_ context.Context, e approval.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, e)
	r.more <- struct{}{}
	return nil
}

// await waits for an event that fits.
func (r *records) await(t *testing.T, fits func(approval.Event) bool) approval.Event {
	t.Helper()
	for {
		r.mu.Lock()
		for _, e := range r.list {
			if fits(e) {
				r.mu.Unlock()
				return e
			}
		}
		r.mu.Unlock()
		select {
		case <-r.more:
		case <-t.Context().Done():
			t.Fatal("no such event")
		}
	}
}

// person is an approver that hands its questions to the test.
type person chan question

type question struct {
	request *approval.Request
	answer  chan<- approval.Decision
}

func (p person) Approve(ctx context.Context, r *approval.Request) (approval.Decision, error) {
	answer := make(chan approval.Decision, 1)
	select {
	case p <- question{r, answer}:
	case <-ctx.Done():
		return approval.Decision{}, context.Cause(ctx)
	}
	select {
	case d := <-answer:
		return d, nil
	case <-ctx.Done():
		return approval.Decision{}, context.Cause(ctx)
	}
}

func (q question) yes() { q.answer <- q.request.Approve("") }

func textIn(t *testing.T, r *mcp.CallToolResult, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, c := range r.Content {
		if tc, ok := c.(*mcp.TextContent); ok {
			text += tc.Text
		}
	}
	return text
}

// called is what a call in the background came to.
type called struct {
	result *mcp.CallToolResult
	err    error
}

func background(ctx context.Context, s *mcp.ClientSession, name string, args any) <-chan called {
	out := make(chan called, 1)
	go func() {
		r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
		out <- called{r, err}
	}()
	return out
}

type args map[string]any

func say(t *testing.T, s *mcp.ClientSession, name, text string) string {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args{"text": text}})
	return textIn(t, r, err)
}

// takeUp calls echo of x again until the call is the one that q asks about, answers that
// with yes, and returns what it comes to. The gateway hears in its own time that a caller
// is gone; a call before that is another question, which is denied.
func takeUp(t *testing.T, s *mcp.ClientSession, p person, q question) string {
	t.Helper()
	again := func() string {
		answer := background(t.Context(), s, "echo", args{"text": "x"})
		select {
		case other := <-p:
			other.answer <- other.request.Deny("")
			<-answer
			return ""
		case got := <-answer:
			return textIn(t, got.result, got.err)
		}
	}
	for !strings.Contains(again(), q.request.ID) {
	}
	q.yes()
	got := again()
	for strings.HasPrefix(got, "[PENDING]") {
		got = again()
	}
	return got
}
