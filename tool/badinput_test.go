package tool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/canonical"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// Bad input is refused with a clear error, nobody is asked, and nothing is left
// behind: no grant, no rule, no pending entry.
func TestBadInput(t *testing.T) {
	big := append(append([]byte(`{"to":"`), bytes.Repeat([]byte("x"), 32<<20)...), `"}`...)
	deep := strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000)
	tests := map[string]struct {
		call policy.Call
		is   error
		text string // part of what the model is told
	}{
		"malformed JSON":       {callOf("send_email", `{"to": "ann"`), canonical.ErrMalformedJSON, "arguments: malformed JSON at byte 12"},
		"not an object":        {callOf("send_email", `["ann"]`), canonical.ErrNotAnObject, "arguments must be a JSON object"},
		"duplicate keys":       {callOf("send_email", `{"to": "ann", "to": "eve"}`), canonical.ErrDuplicateKey, "arguments: duplicate key"},
		"unknown tool":         {callOf("send_mail", `{}`), tool.ErrUnknownTool, `unknown tool "send_mail"; there is send_email`},
		"unknown, other case":  {callOf("Send_Email", `{}`), tool.ErrUnknownTool, `unknown tool "Send_Email"; there is send_email`},
		"of a connector":       {policy.Call{Connector: "x", Tool: "send_email"}, tool.ErrUnknownTool, `unknown tool "x:send_email"`},
		"wrong type":           {callOf("send_email", `{"to": 1, "subject": "", "body": ""}`), approval.ErrInvalid, `argument "to" of send_email: type: 1 has type "integer", want "string"`},
		"32 MB":                {policy.Call{Tool: "send_email", Arguments: big}, canonical.ErrTooLarge, "33554441 bytes, at most 16777216 are taken"},
		"10,000 levels":        {callOf("send_email", deep), canonical.ErrTooDeep, "arguments are nested too deeply"},
		"invalid UTF-8":        {callOf("send_email", "{\"to\": \"\xff\"}"), canonical.ErrInvalidUTF8, "text is not valid UTF-8 at byte 8"},
		"no tool":              {callOf("", `{}`), approval.ErrInvalid, "a tool without a name did not run: the call names no tool"},
		"no tool, a connector": {policy.Call{Connector: "github"}, approval.ErrInvalid, "did not run: the call names no tool"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			sent := 0
			send := tool.Func("send_email", "", func(context.Context, email) (any, error) { sent++; return nil, nil })
			d := newFixture(t, func(r *approval.Request) approval.Decision { return r.Approve("").ForSession(policy.ReachTool) },
				tool.NeedsApproval(true, send)...)
			r := tool.Call(context.Background(), d.gate, test.call)
			var invalid *approval.InvalidError
			if !errors.As(r.Err, &invalid) || !errors.Is(r.Err, test.is) {
				t.Errorf("error %v, want an invalid call because %v", r.Err, test.is)
			}
			if !strings.HasPrefix(r.Text, "[ERROR] ") || !strings.Contains(r.Text, test.text) || len(r.Text) > 1000 {
				t.Errorf("the model is told %.1000q, want %q in it", r.Text, test.text)
			}
			d.wantAsked(0)
			if sent != 0 || len(d.grants()) != 0 || r.Outcome.Request != "" {
				t.Errorf("sent %d, grants %v, request %q", sent, d.grants(), r.Outcome.Request)
			}
			wantNothingPending(t, d, test.call)
		})
	}
}

// wantNothingPending checks that a review of the call leaves nothing that waits,
// also after a restart.
func wantNothingPending(t *testing.T, d *fixture, call policy.Call) {
	t.Helper()
	batch := d.gate.Review(context.Background(), call)
	saved, err := json.Marshal(batch)
	if err != nil {
		t.Fatalf("saving: %v", err)
	}
	if len(saved) > 10_000 {
		t.Errorf("the saved batch has %d bytes", len(saved))
	}
	restored, err := d.gate.Restore(context.Background(), saved)
	if err != nil {
		t.Fatalf("restoring: %v", err)
	}
	for _, b := range []*approval.Batch{batch, restored} {
		if n := len(b.Pending()); n != 0 || b.Outcome(0).State != policy.StateInvalid {
			t.Errorf("%d pending, state %s", n, b.Outcome(0).State)
		}
	}
}

// A bad call does not disturb the others of its turn.
func TestBadCallAmongGoodOnes(t *testing.T) {
	p := asks("p")
	d := newFixture(t, yes, p)
	results := tool.Calls(context.Background(), d.gate, callOf("p", `{"n":1}`), callOf("q", `{}`), callOf("p", `{"n":2}`))
	p.wantRan(t, `{"n":1}`, `{"n":2}`)
	if !errors.Is(results[1].Err, tool.ErrUnknownTool) {
		t.Errorf("error %v", results[1].Err)
	}
}
