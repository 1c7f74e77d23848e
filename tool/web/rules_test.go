package web_test

import (
	"context"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
	"github.com/assent-dev/assent/tool/web"
)

// review judges a call without running it: under rules, and with config by name.
func review(t *testing.T, w *web.Tool, word tool.Word, mode policy.Mode, fields map[string]any, rules ...string) approval.Outcome {
	t.Helper()
	tools, _, err := tool.Configure(tool.Config{Tools: []tool.Named{{Name: "http_request", Approval: word}}}, w)
	if err != nil {
		t.Fatal(err)
	}
	gate, err := tool.Guard(approval.Config{Policy: approvaltest.Rules(t, rules...), Mode: mode}, tools...)
	if err != nil {
		t.Fatal(err)
	}
	b := gate.Review(context.WithoutCancel(t.Context()), policy.Call{ID: "1", Tool: "http_request", Arguments: arguments(t, fields)})
	return b.Outcome(0)
}

func TestRulesAboutRequests(t *testing.T) {
	for _, c := range []struct {
		name   string
		word   tool.Word
		mode   policy.Mode
		method string
		url    string
		rules  []string
		want   policy.State
	}{
		{"no rule allows it", "", policy.ModeAsk, "GET", "https://api.example/x", nil, policy.StatePending},
		{"a listed host is free", "", policy.ModeAsk, "GET", "https://docs.python.org/", nil, policy.StateFree},
		{"strict leaves it free", "", policy.ModeStrict, "GET", "https://docs.python.org/", nil, policy.StateFree},
		{"strict refuses others", "", policy.ModeStrict, "GET", "https://api.example/x", nil, policy.StateModeDenied},
		{"an allow by method and URL", "", policy.ModeAsk, "GET", "https://api.example/v1/x", []string{"allow http_request(GET https://api.example/v1/**)"}, policy.StateAutoApproved},
		{"not for another method", "", policy.ModeAsk, "DELETE", "https://api.example/v1/x", []string{"allow http_request(GET https://api.example/v1/**)"}, policy.StatePending},
		{"not for another path", "", policy.ModeAsk, "GET", "https://api.example/v1/../admin", []string{"allow http_request(GET https://api.example/v1/**)"}, policy.StatePending},
		{"an allow for the tool", "", policy.ModeAsk, "GET", "https://api.example/x", []string{"allow http_request"}, policy.StateAutoApproved},
		{"a deny by URL holds for a listed host", "", policy.ModeAsk, "POST", "https://docs.python.org/", []string{"deny http_request(POST https://docs.python.org/**)"}, policy.StateAutoDenied},
		{"a deny of the connection holds", "", policy.ModeAsk, "GET", "https://docs.python.org/", []string{"deny connect(docs.python.org)"}, policy.StateAutoDenied},
		{"also in approve-all", "", policy.ModeApproveAll, "GET", "https://api.example/", []string{"deny connect(*.example)", "deny connect(api.example:443)"}, policy.StateAutoDenied},
		{"an allow of the connection is none of the request", "", policy.ModeAsk, "GET", "https://api.example/x", []string{"allow connect(api.example:443)"}, policy.StatePending},
		{"config allows the tool", tool.WordAllow, policy.ModeAsk, "POST", "https://api.example/x", nil, policy.StateFree},
		{"config asks for the tool", tool.WordAsk, policy.ModeAsk, "GET", "https://docs.python.org/", nil, policy.StatePending},
		{"and an allow answers that", tool.WordAsk, policy.ModeAsk, "GET", "https://docs.python.org/", []string{"allow http_request(GET https://docs.python.org/**)"}, policy.StateAutoApproved},
		{"nothing lifts a refused address", tool.WordAllow, policy.ModeApproveAll, "GET", "http://169.254.169.254/", []string{"allow http_request", "allow http_request(GET http://169.254.169.254/**)"}, policy.StateBlocked},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newTool(t, web.Options{Network: listed})
			o := review(t, w, c.word, c.mode, map[string]any{"method": c.method, "url": c.url}, c.rules...)
			if o.State != c.want {
				t.Errorf("%s, want %s; acts %+v", o.State, c.want, o.Acts)
			}
		})
	}
}

func TestTheNetworkIsOff(t *testing.T) {
	w := newTool(t, web.Options{Network: hosts.Policy{}})
	o := review(t, w, tool.WordAllow, policy.ModeApproveAll, map[string]any{"url": "https://docs.python.org/"}, "allow http_request")
	if o.State != policy.StateBlocked {
		t.Errorf("%s", o.State)
	}
}
