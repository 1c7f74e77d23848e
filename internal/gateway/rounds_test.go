package gateway_test

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/gateway"
	"github.com/assent-dev/assent/internal/mcptest"
	"github.com/assent-dev/assent/policy"
)

//lint:file-ignore SA1019 servers still ask for the client's model

// asking are the versions of the protocol in which a client's user can be asked. In the
// newest a server may not send requests: it answers a call with what it needs to know.
var asking = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

func TestAConnectorAsksTheClientsUserInEveryVersion(t *testing.T) {
	for _, server := range []string{mcptest.Ordinary, mcptest.Newest} {
		for _, version := range asking {
			t.Run(server+" "+version, func(t *testing.T) {
				w := start(t, gateway.Options{Plain: true, Gate: approval.Config{Mode: policy.ModeApproveAll}}, one(server))
				asked := make(chan string, 1)
				s := w.connectAs(t, version, &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					asked <- r.Params.Message
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ann"}}, nil
				}})
				r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask", Arguments: args{}})
				if text := textIn(t, r, err); text != "accept Ann" {
					t.Fatalf("got %q", text)
				}
				if got := <-asked; got != "Connector one asks: What is your name?" {
					t.Errorf("asked %q", got)
				}
			})
		}
	}
}

func TestAConnectorAsksTheClientsModelInEveryVersion(t *testing.T) {
	for _, version := range asking {
		for rule, want := range map[string]string{"deny other:*": "Nothing.", "deny one:sampling/createMessage": "denied"} {
			w := start(t, gateway.Options{Plain: true, Gate: approval.Config{Mode: policy.ModeApproveAll, Policy: approvaltest.Rules(t, rule)}}, one(mcptest.Library))
			s := w.connectAs(t, version, &mcp.ClientOptions{CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
				return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "Nothing."}}, nil
			}})
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "think", Arguments: args{}})
			if text := textIn(t, r, err); !strings.Contains(text, want) {
				t.Errorf("%s, %s: got %q", version, rule, text)
			}
		}
	}
}

func TestTheClientsUserAnswersInEveryVersion(t *testing.T) {
	for _, version := range asking {
		t.Run(version, func(t *testing.T) {
			w := start(t, gateway.Options{Plain: true, ClientAnswers: true}, one(mcptest.Ordinary))
			asked := make(chan string, 1)
			s := w.connectAs(t, version, &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				asked <- r.Params.Message
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": "approve"}}, nil
			}})
			if got := say(t, s, "echo", "x"); got != "x" {
				t.Fatalf("got %q", got)
			}
			if message := <-asked; !strings.Contains(message, "one:echo") {
				t.Errorf("asked %q", message)
			}
		})
	}
}

// newest connects a client of the newest version that answers no question by itself.
func (w *world) newest(t *testing.T, caps *mcp.ClientCapabilities) *mcp.ClientSession {
	t.Helper()
	return w.connectAs(t, "2026-07-28", &mcp.ClientOptions{Capabilities: caps, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}})
}

func canElicit() *mcp.ClientCapabilities {
	return &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{}}
}

// answered are answers to all that a result asks.
func answered(r *mcp.CallToolResult, action string, content map[string]any) mcp.InputResponseMap {
	out := mcp.InputResponseMap{}
	for id := range r.InputRequests {
		out[id] = &mcp.ElicitResult{Action: action, Content: content}
	}
	return out
}

// echo calls echo of x, with answers if there are any.
func echo(t *testing.T, s *mcp.ClientSession, state string, answers mcp.InputResponseMap) *mcp.CallToolResult {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: args{"text": "x"}, RequestState: state, InputResponses: answers})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAnswersOfTheClientsUserInTheNewestVersion(t *testing.T) {
	for _, c := range []struct {
		action  string
		content map[string]any
		want    string
	}{
		{"accept", map[string]any{"answer": "approve"}, "x"},
		{"accept", map[string]any{"answer": "deny", "note": "no thanks"}, "no thanks"},
		{"accept", nil, "[DENIED]"},
		{"decline", map[string]any{"answer": "approve"}, "[DENIED]"},
		{"cancel", map[string]any{"answer": "approve"}, "[DENIED]"},
	} {
		w := start(t, gateway.Options{Plain: true, ClientAnswers: true}, one(mcptest.Ordinary))
		s := w.newest(t, canElicit())
		r := echo(t, s, "", nil)
		if !r.NeedsInput() || len(r.InputRequests) != 1 || r.RequestState == "" {
			t.Fatalf("got %+v", r)
		}
		if got := textIn(t, echo(t, s, r.RequestState, answered(r, c.action, c.content)), nil); !strings.Contains(got, c.want) {
			t.Errorf("%s %v: got %q", c.action, c.content, got)
		}
	}
}

// An answer is for the call that asked for it, and is used once.
func TestAnAnswerInTheNewestVersionIsForOneCall(t *testing.T) {
	w := start(t, gateway.Options{Plain: true, ClientAnswers: true}, one(mcptest.Ordinary))
	s := w.newest(t, canElicit())
	first := echo(t, s, "", nil)
	yes := answered(first, "accept", map[string]any{"answer": "approve"})
	for name, r := range map[string]*mcp.CallToolResult{
		"the same call without a state": echo(t, s, "", yes),
		"a state that nobody gave":      echo(t, s, "guessed", yes),
	} {
		if !r.NeedsInput() || r.RequestState == first.RequestState {
			t.Errorf("%s: got %+v", name, r)
		}
	}
	other, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: args{"text": "y"}, RequestState: first.RequestState, InputResponses: yes})
	if err != nil || !other.NeedsInput() {
		t.Errorf("other arguments with the state: got %+v, %v", other, err)
	}
	if got := textIn(t, echo(t, s, first.RequestState, yes), nil); got != "x" {
		t.Errorf("the call that asked: got %q", got)
	}
	if again := echo(t, s, first.RequestState, yes); !again.NeedsInput() {
		t.Errorf("a second time: got %+v", again)
	}
}

// A call that is answered elsewhere runs when its client calls again, whatever it says then.
func TestAQuestionOfTheNewestVersionAnsweredElsewhere(t *testing.T) {
	p := make(person)
	w := start(t, gateway.Options{Plain: true, ClientAnswers: true, Gate: approval.Config{Approver: p}}, one(mcptest.Ordinary))
	s := w.newest(t, canElicit())
	asked := make(chan *mcp.CallToolResult, 1)
	go func() {
		r, _ := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: args{"text": "x"}})
		asked <- r
	}()
	q, r := <-p, <-asked
	q.answer <- q.request.Deny("not here")
	<-q.request.Done()
	got := textIn(t, echo(t, s, r.RequestState, answered(r, "accept", map[string]any{"answer": "approve"})), nil)
	if !strings.Contains(got, "not here") {
		t.Errorf("got %q", got)
	}
}

// A client that cannot be asked is not asked.
func TestAClientOfTheNewestVersionWithoutElicitationIsNotAsked(t *testing.T) {
	w := start(t, gateway.Options{Plain: true, ClientAnswers: true}, one(mcptest.Ordinary))
	for name, caps := range map[string]*mcp.ClientCapabilities{
		"nothing":  {},
		"url only": {Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
	} {
		s := w.newest(t, caps)
		if r := echo(t, s, "", nil); r.NeedsInput() || !strings.Contains(textIn(t, r, nil), "elicitation") {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}

// A client that was asked and does not come back leaves nothing behind.
func TestACallThatIsNotAnsweredInTheNewestVersionExpires(t *testing.T) {
	p := make(person)
	w := start(t, gateway.Options{Plain: true, ClientAnswers: true, Keep: 1, Gate: approval.Config{Approver: p}}, one(mcptest.Ordinary))
	s := w.newest(t, canElicit())
	go func() { <-p }()
	if r := echo(t, s, "", nil); !r.NeedsInput() {
		t.Fatalf("got %+v", r)
	}
	w.records.await(t, func(e approval.Event) bool { return e.State == policy.StateDismissed })
}
