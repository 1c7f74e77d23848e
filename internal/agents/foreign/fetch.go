package foreign

import (
	"context"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
)

type urlArgs struct {
	Method string `json:"method"`
	URL    string `json:"url"`
}

// fetch is a request, and the connection that it takes. The connection never asks by
// itself, as the request does, but a deny about it holds.
func (f judge) fetch(_ context.Context, in urlArgs) (tool.Action, error) {
	target, err := policy.URLTarget(in.Method, in.URL)
	if err != nil {
		return tool.Action{}, err
	}
	u := target.URL
	connect := f.opts.Hosts.Connect(u.Host, u.Port, u.Scheme == "https")
	request := policy.Act{Name: policy.ActHTTPRequest, Target: target, Known: true, Verdict: connect.Verdict, Why: connect.Why}
	connect.Cause, connect.ByName = 1, false
	if connect.Verdict != policy.VerdictBlock {
		connect.Verdict, connect.Why = policy.VerdictFree, "follows from the request"
	}
	text := in.Method + " " + in.URL
	return tool.Ask(elsewhere).On(request, connect).Titled(text).ShowingView(present.View{Kind: present.Text, Content: text}), nil
}
