package gateway_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/gateway"
	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/policy"
)

const token = "a token that nobody guesses"

// serveHTTP serves a gateway over HTTP.
func (w *world) serveHTTP(t *testing.T) *httptest.Server {
	t.Helper()
	h, err := w.Handler(token)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	t.Cleanup(s.CloseClientConnections)
	return s
}

// bearer sends a token with every request, and can be made to break all of them.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

func connectHTTP(t *testing.T, url, version string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	transport := &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{token}}}
	s, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestOverHTTPInBothEras(t *testing.T) {
	w := start(t, gateway.Options{Plain: true, Gate: approval.Config{Policy: approvaltest.Rules(t, "allow one:echo")}}, one(mcptest.Ordinary))
	server := w.serveHTTP(t)
	for _, version := range []string{"2025-06-18", "2026-07-28"} {
		s := connectHTTP(t, server.URL, version)
		if _, err := s.ListTools(t.Context(), nil); err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		if got := say(t, s, "echo", "hello"); got != "hello" {
			t.Errorf("%s: got %q", version, got)
		}
		if got := say(t, s, "fail", "x"); !strings.HasPrefix(got, "[DENIED]") {
			t.Errorf("%s: got %q", version, got)
		}
	}
}

func TestOverHTTPOnlyWithTheTokenAndNotForWebPages(t *testing.T) {
	w := start(t, gateway.Options{Plain: true}, one(mcptest.Ordinary))
	server := w.serveHTTP(t)
	for name, headers := range map[string]map[string]string{
		"no token":    {},
		"wrong token": {"Authorization": "Bearer guess"},
		"a web page":  {"Authorization": "Bearer " + token, "Origin": "https://evil.example"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range headers {
			r.Header.Set(k, v)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusUnauthorized && response.StatusCode != http.StatusForbidden {
			t.Errorf("%s: status %d", name, response.StatusCode)
		}
	}
	if _, err := w.Handler(""); err == nil {
		t.Error("an empty token is taken")
	}
}

func TestNothingListensForOtherMachines(t *testing.T) {
	for address, fine := range map[string]bool{
		"127.0.0.1:0": true, "[::1]:0": true, "0.0.0.0:0": false, ":7777": false, "192.168.1.2:1": false, "localhost:1": false, "x": false,
	} {
		if err := gateway.Loopback(address); (err == nil) != fine {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestAClientWhoseConnectionBrokeTakesItsCallUp(t *testing.T) {
	p := make(person)
	w := start(t, gateway.Options{Plain: true, Gate: approval.Config{Approver: p}, Hold: 200 * time.Millisecond}, one(mcptest.Ordinary))
	server := w.serveHTTP(t)
	s := connectHTTP(t, server.URL, "2025-06-18")
	given := background(t.Context(), s, "echo", args{"text": "x"})
	q := <-p
	server.CloseClientConnections() // in the middle of the wait
	<-given
	if got := takeUp(t, s, p, q); got != "x" {
		t.Errorf("got %q", got)
	}
}

func TestAResultThatNobodyTookIsKeptAndGivenOnce(t *testing.T) {
	p := make(person)
	w := start(t, gateway.Options{Plain: true, Gate: approval.Config{Approver: p}}, one(mcptest.Ordinary))
	server := w.serveHTTP(t)
	s := connectHTTP(t, server.URL, "2025-06-18")
	dir := t.TempDir()
	begun, signal := filepath.Join(dir, "begun"), filepath.Join(dir, "go")
	call := args{"begun": begun, "go": signal}
	given := background(t.Context(), s, "slow", call)
	(<-p).yes()
	mcptest.AwaitFile(t, begun, true)
	server.CloseClientConnections() // while it runs
	<-given
	if err := os.WriteFile(signal, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.records.await(t, func(e approval.Event) bool { return e.Stage == approval.StageCompleted })
	kept := background(t.Context(), s, "slow", call)
	got := <-kept
	if text := textIn(t, got.result, got.err); text != "slow ran once" {
		t.Errorf("got %q", text)
	}
	next := background(t.Context(), s, "slow", call)
	q := <-p // it was given; this is another call
	q.answer <- q.request.Deny("")
	<-next
}

func TestListenHTTPEndsWithItsContext(t *testing.T) {
	w := start(t, gateway.Options{Plain: true, Gate: approval.Config{Mode: policy.ModeApproveAll}}, one(mcptest.Ordinary))
	ctx, cancel := context.WithCancel(t.Context())
	ended, ready := make(chan error, 1), make(chan string, 1)
	go func() {
		ended <- w.ListenHTTP(ctx, "127.0.0.1:0", token, func(at net.Addr) { ready <- at.String() })
	}()
	s := connectHTTP(t, "http://"+<-ready, "2025-06-18")
	if got := say(t, s, "echo", "x"); got != "x" {
		t.Errorf("got %q", got)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
