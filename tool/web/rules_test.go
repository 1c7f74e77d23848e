package web_test

import (
	"context"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/hosts"
	"github.com/assent-dev/assent/tool/web"
)

// review judges a call without running it: under rules, and with config by name.
func review(t *testing.T, w *web.Tool, word tool.Word, mode approval.Mode, fields map[string]any, rules ...string) approval.Outcome {
	t.Helper()
	tools, _, err := tool.Configure(tool.Config{Tools: []tool.Named{{Name: "http_request", Approval: word}}}, w)
	if err != nil {
		t.Fatal(err)
	}
	gate, err := tool.Guard(approval.Config{Policy: approvaltest.Rules(t, rules...), Mode: mode}, tools...)
	if err != nil {
		t.Fatal(err)
	}
	b := gate.Review(context.WithoutCancel(t.Context()), approval.Call{ID: "1", Tool: "http_request", Arguments: arguments(t, fields)})
	return b.Outcome(0)
}

func TestRulesAboutRequests(t *testing.T) {
	for _, c := range []struct {
		name   string
		word   tool.Word
		mode   approval.Mode
		method string
		url    string
		rules  []string
		want   approval.State
	}{
		{"nothing allows it", "", approval.ModeAsk, "GET", "https://api.example/x", nil, approval.Pending},
		{"a listed host is free", "", approval.ModeAsk, "GET", "https://docs.python.org/", nil, approval.FreeToRun},
		{"strict leaves it free", "", approval.ModeStrict, "GET", "https://docs.python.org/", nil, approval.FreeToRun},
		{"strict refuses others", "", approval.ModeStrict, "GET", "https://api.example/x", nil, approval.ModeDenied},
		{"an allow by method and URL", "", approval.ModeAsk, "GET", "https://api.example/v1/x", []string{"allow http_request(GET https://api.example/v1/**)"}, approval.AutoApproved},
		{"not for another method", "", approval.ModeAsk, "DELETE", "https://api.example/v1/x", []string{"allow http_request(GET https://api.example/v1/**)"}, approval.Pending},
		{"not for another path", "", approval.ModeAsk, "GET", "https://api.example/v1/../admin", []string{"allow http_request(GET https://api.example/v1/**)"}, approval.Pending},
		{"an allow for the tool", "", approval.ModeAsk, "GET", "https://api.example/x", []string{"allow http_request"}, approval.AutoApproved},
		{"a deny by URL holds for a listed host", "", approval.ModeAsk, "POST", "https://docs.python.org/", []string{"deny http_request(POST https://docs.python.org/**)"}, approval.AutoDenied},
		{"a deny of the connection holds", "", approval.ModeAsk, "GET", "https://docs.python.org/", []string{"deny connect(docs.python.org)"}, approval.AutoDenied},
		{"also in approve-all", "", approval.ModeApproveAll, "GET", "https://api.example/", []string{"deny connect(*.example)", "deny connect(api.example:443)"}, approval.AutoDenied},
		{"an allow of the connection is none of the request", "", approval.ModeAsk, "GET", "https://api.example/x", []string{"allow connect(api.example:443)"}, approval.Pending},
		{"config allows the tool", tool.WordAllow, approval.ModeAsk, "POST", "https://api.example/x", nil, approval.FreeToRun},
		{"config asks for the tool", tool.WordAsk, approval.ModeAsk, "GET", "https://docs.python.org/", nil, approval.Pending},
		{"and an allow answers that", tool.WordAsk, approval.ModeAsk, "GET", "https://docs.python.org/", []string{"allow http_request(GET https://docs.python.org/**)"}, approval.AutoApproved},
		{"nothing lifts a refused address", tool.WordAllow, approval.ModeApproveAll, "GET", "http://169.254.169.254/", []string{"allow http_request", "allow http_request(GET http://169.254.169.254/**)"}, approval.Blocked},
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
	o := review(t, w, tool.WordAllow, approval.ModeApproveAll, map[string]any{"url": "https://docs.python.org/"}, "allow http_request")
	if o.State != approval.Blocked {
		t.Errorf("%s", o.State)
	}
}
