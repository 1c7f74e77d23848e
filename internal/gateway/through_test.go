package gateway_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/gateway"
	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/policy"
)

// What a server asks on the way reaches the client whose call it works on, also if others
// are there.
func TestWhatAConnectorAsksReachesTheCallerAndNobodyElse(t *testing.T) {
	w := start(t, gateway.Options{Plain: true, Gate: approval.Config{Mode: policy.ModeApproveAll}}, one(mcptest.Ordinary))
	server := w.serveHTTP(t)
	client := func(name string) *mcp.ClientSession {
		c := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, &mcp.ClientOptions{
			ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": name}}, nil
			},
		})
		transport := &mcp.StreamableClientTransport{Endpoint: server.URL, HTTPClient: &http.Client{Transport: bearer{token}}}
		s, err := c.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: "2025-06-18"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	ann, bob := client("Ann"), client("Bob")
	for s, want := range map[*mcp.ClientSession]string{ann: "accept Ann", bob: "accept Bob"} {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask", Arguments: args{}})
		if text := textIn(t, r, err); text != want {
			t.Errorf("got %q, want %q", text, want)
		}
	}
}

// A page of this very address may call with the token; one of another name that points here
// may not.
func TestOverHTTPOnlyForThisMachine(t *testing.T) {
	w := start(t, gateway.Options{Plain: true}, one(mcptest.Ordinary))
	server := w.serveHTTP(t)
	for _, c := range []struct {
		host, origin string
		refused      bool
	}{
		{"", "", false},
		{"localhost:80", "http://localhost:80", false},
		{"evil.example", "", true},
		{"", "http://evil.example", true},
		{"localhost:80", "http://localhost:81", true},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		r.Host = c.host
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if refused := response.StatusCode == http.StatusForbidden; refused != c.refused {
			t.Errorf("host %q, origin %q: status %d", c.host, c.origin, response.StatusCode)
		}
	}
}
