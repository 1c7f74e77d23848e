package gateway_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/gateway"
	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/tool/connector"
)

// A server that is not there when the gateway starts is tried again, and clients hear of
// its tools once it is.
func TestAServerThatIsDownAtTheStartComesLater(t *testing.T) {
	argv, env := mcptest.Command(mcptest.Ordinary)
	program := filepath.Join(t.TempDir(), "server")
	callbacks := &gateway.Callbacks{}
	c, err := connector.Open(t.Context(), connector.Config{Name: "one", Command: []string{program}, Env: env},
		callbacks.Listen(connector.Options{Runner: launch.None{}, Environ: os.Environ(), Backoff: func(int) time.Duration { return 10 * time.Millisecond }}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Err() == nil {
		t.Fatal("a server that is not there was reached")
	}
	g, err := gateway.New(gateway.Options{Gate: approval.Config{Mode: policy.ModeApproveAll}, Connectors: []*connector.Connector{c}, Callbacks: callbacks})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	changed := make(chan struct{}, 100)
	s := (&world{Gateway: g}).connect(t, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	})
	if list, err := s.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 0 {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}
	script := fmt.Sprintf("#!/bin/sh\nexec '%s'\n", argv[0])
	if err := os.WriteFile(program+".new", []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(program+".new", program); err != nil {
		t.Fatal(err)
	}
	<-changed
	if got := say(t, s, "one__echo", "late"); got != "late" {
		t.Errorf("it said %q", got)
	}
}
