package connector_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool/connector"
)

// guarded connects a client to the ordinary server, with a guard at one end or the other.
func guarded(t *testing.T, g *connector.Guard, atServer bool) *mcp.ClientSession {
	t.Helper()
	server, client := mcptest.NewServer(), mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	if atServer {
		server.AddReceivingMiddleware(g.Middleware)
	} else {
		client.AddSendingMiddleware(g.Middleware)
	}
	a, b := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), a, nil); err != nil {
		t.Fatal(err)
	}
	s, err := client.Connect(t.Context(), b, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestAGuardAsksAtEitherEnd(t *testing.T) {
	for _, atServer := range []bool{true, false} {
		answers := []func(*approval.Request) approval.Decision{
			func(r *approval.Request) approval.Decision { return r.Approve("") },
			func(r *approval.Request) approval.Decision { return r.Deny("not today") },
			func(r *approval.Request) approval.Decision { return r.Change([]byte(`{"text":"changed"}`), "") },
			func(r *approval.Request) approval.Decision { return r.Approve("") }, // of the change
			func(r *approval.Request) approval.Decision { return r.Respond("in its place") },
		}
		person := &asked{}
		person.answer = func(r *approval.Request) approval.Decision { return answers[len(person.requests)-1](r) }
		g, err := connector.NewGuard("own", approval.Config{Approver: person})
		if err != nil {
			t.Fatal(err)
		}
		s := guarded(t, g, atServer)
		for _, want := range []string{"hello", "not today", "changed", "in its place"} {
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: args{"text": "hello"}})
			if err != nil {
				t.Fatal(err)
			}
			text := r.Content[0].(*mcp.TextContent).Text
			if !strings.Contains(text, want) || r.IsError != (want == "not today") {
				t.Errorf("at the server: %v: got %q, want %q", atServer, text, want)
			}
		}
		if name := person.last(t).Call.Name(); name != "own:echo" {
			t.Errorf("asked about %s", name)
		}
		if _, err := s.ListTools(t.Context(), nil); err != nil {
			t.Errorf("what is no call: %v", err)
		}
	}
}

func TestAGuardWithoutAnybodyRefuses(t *testing.T) {
	g, err := connector.NewGuard("own", approval.Config{Policy: approvaltest.Rules(t, "allow own:echo")})
	if err != nil {
		t.Fatal(err)
	}
	s := guarded(t, g, true)
	for name, refused := range map[string]bool{"echo": false, "fail": true} {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args{"text": "x"}})
		if err != nil {
			t.Fatal(err)
		}
		if denied := strings.HasPrefix(r.Content[0].(*mcp.TextContent).Text, "[DENIED]"); denied != refused {
			t.Errorf("%s: denied %v", name, denied)
		}
	}
}

// changing is a preparer to whom every call looks different each time.
type changing struct{ times int }

func (c *changing) Prepare(_ context.Context, call policy.Call) (approval.Proposal, error) {
	c.times++
	act := policy.Act{Name: call.Tool, Target: policy.ArgumentsTarget(call.Arguments), Known: true, Verdict: policy.VerdictAsk}
	return approval.Proposal{Acts: []policy.Act{act}, State: policy.DigestOf(fmt.Append(nil, c.times))}, nil
}

func TestAGuardGivesUpWhatKeepsChanging(t *testing.T) {
	person := &asked{}
	g, err := connector.NewGuard("", approval.Config{Approver: person, Preparer: &changing{}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := guarded(t, g, true).CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: args{"text": "hello"}})
	if err != nil {
		t.Fatal(err)
	}
	if text := r.Content[0].(*mcp.TextContent).Text; !r.IsError || text != approval.ErrKeepsChanging.Error() || person.count() != 10 {
		t.Errorf("asked %d times, it says %q", person.count(), text)
	}
}
