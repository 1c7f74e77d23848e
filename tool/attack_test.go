package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
)

// The attacks of a red team that came by way of a tool.

// of returns the probe as a tool of the connector.
func (p *probe) of(connector string) *probe {
	p.spec = func() tool.Spec { return tool.Spec{Connector: connector, Name: p.name} }
	return p
}

// While a call is prepared for its start, a person changes it elsewhere: the
// action made from the old arguments then runs under the yes to the new ones.
func TestAnApprovalForOtherArgumentsDoesNotRun(t *testing.T) {
	const rude, polite = `{"body":"rude","to":"ann"}`, `{"body":"polite","to":"ann"}`
	ctx := context.Background()
	var meanwhile func()
	p := asks("send")
	p.prepare = func(_ json.RawMessage, do tool.Do) (tool.Action, error) {
		if f := meanwhile; f != nil {
			meanwhile = nil
			f()
		}
		return tool.Ask(do).OnTarget(policy.TextTarget("ann")), nil
	}
	d := newFixture(t, nil, p)
	b := d.gate.Review(ctx, callOf("send", rude))
	resolve := func(decision approval.Decision) {
		t.Helper()
		if err := b.Resolve(ctx, decision); err != nil {
			t.Fatal(err)
		}
	}
	resolve(b.Pending()[0].Approve(""))
	meanwhile = func() {
		if _, err := b.Start(ctx, 0, approval.Proposal{}); !errors.Is(err, approval.ErrChanged) {
			t.Fatalf("started elsewhere: %v", err)
		}
		changed, err := b.Preview(ctx, b.Pending()[0].ID, []byte(polite))
		if err != nil {
			t.Fatal(err)
		}
		resolve(changed.Change([]byte(polite), ""))
	}
	if _, err := tool.Finish(ctx, d.gate, b); !errors.Is(err, approval.ErrOpen) {
		t.Errorf("error %v, want it open", err)
	}
	p.wantRan(t)
	resolve(b.Pending()[0].Approve(""))
	if _, err := tool.Finish(ctx, d.gate, b); err != nil {
		t.Error(err)
	}
	p.wantRan(t, polite)
}

// The connector written into the tool's name reaches the connector's tool, and
// no rule about the connector meets the call.
func TestAConnectorInTheNameReachesNothing(t *testing.T) {
	p := frees("post").of("hub")
	d := newFixture(t, yes, p)
	d.allow("deny connector hub")
	if r := d.call("hub:post", `{}`); !errors.Is(r.Err, tool.ErrUnknownTool) {
		t.Errorf("error %v, want an unknown tool", r.Err)
	}
	r := tool.Call(context.Background(), d.gate, policy.Call{Connector: "hub", Tool: "post"})
	if !errors.Is(r.Err, approval.ErrDenied) {
		t.Errorf("error %v, want a denial", r.Err)
	}
	p.wantRan(t)
}

// A rule saved for the program's own tool answers for a connector's tool that
// took the same name, in any case of its letters.
func TestARuleForOnesOwnToolDoesNotReachAConnectors(t *testing.T) {
	own, foreign, other := asks("send"), asks("Send").of("hub"), asks("mail").of("hub")
	always := func(r *approval.Request) approval.Decision {
		if r.Call.Connector != "" {
			return r.Deny("")
		}
		d := r.Approve("").Always()
		d.Remember.Reach = policy.ReachTool
		return d
	}
	d := newFixture(t, always, own, foreign, other)
	d.call("send", `{}`)
	d.call("send", `{"again":1}`)
	d.wantAsked(1)
	tool.Call(context.Background(), d.gate, policy.Call{Connector: "hub", Tool: "Send"})
	d.wantAsked(2)
	foreign.wantRan(t)
	d.allow("allow mail") // nobody else has that name
	tool.Call(context.Background(), d.gate, policy.Call{Connector: "hub", Tool: "mail"})
	d.wantAsked(2)
	other.wantRan(t, "{}")
}

// Inside a map, a key in another case: Go reads one of them, the tool the other.
func TestKeysInAnotherCaseInsideAMapAreRefused(t *testing.T) {
	type mail struct {
		To string `json:"To"`
	}
	type mails struct {
		Mails map[string]mail   `json:"mails"`
		Lists map[string][]mail `json:"lists,omitempty"`
	}
	foreign := frees("send")
	d := newFixture(t, forSession, tool.RequireApproval(foreign, tool.Approval[mails]{
		Target: func(m mails) string { return m.Mails["x"].To },
	}))
	d.call("send", `{"mails":{"x":{"To":"boss"}}}`)
	foreign.wantRan(t, `{"mails":{"x":{"To":"boss"}}}`)
	for args, field := range map[string]string{
		`{"mails":{"x":{"To":"evil","to":"boss"}}}`:                                   "mails.x.to",
		`{"mails":{"x":{"to":"boss"}}}`:                                               "mails.x.to",
		`{"mails":{"x":{"To":"boss"}},"lists":{"y":[{"To":"a","tO":"b"}]}}`:           "lists.y[0].tO",
		`{"mails":{"x":{"To":"boss"}},"lists":{"y":[{"To":"a"},{"TO":"eve"}]},"z":1}`: "lists.y[1].TO",
	} {
		r := d.call("send", args)
		var fault *tool.ArgumentError
		if !errors.As(r.Err, &fault) || fault.Field != field {
			t.Errorf("%s: error %v, want one about %s", args, r.Err, field)
		}
	}
	d.wantAsked(1)
}

// Arguments that the description does not know reach the tool unseen, and under
// the grant for what is known of the call.
func TestArgumentsThatAreNotDescribedAreShownAndCount(t *testing.T) {
	type mail struct {
		To string `json:"to"`
	}
	foreign := frees("send")
	var shown []string
	d := newFixture(t, func(r *approval.Request) approval.Decision {
		v, err := r.View(context.Background())
		if err != nil {
			t.Error(err)
		}
		shown = append(shown, r.Summary+"\n"+v.Content)
		return forSession(r)
	}, tool.RequireApproval(foreign, tool.Approval[mail]{
		Describe: func(m mail) string { return "Send to " + m.To },
		Target:   func(m mail) string { return m.To },
		View:     func(m mail) present.View { return present.View{Kind: present.KindText, Content: "To: " + m.To} },
	}))
	d.call("send", `{"to":"ann"}`)
	d.call("send", `{"to":"ann","bcc":"eve","attach":"/etc/shadow"}`)
	d.call("send", `{"to":"ann","bcc":"mallory"}`)
	d.wantAsked(3)
	if shown[0] != "Send to ann\nTo: ann" {
		t.Errorf("shown %q", shown[0])
	}
	for _, want := range []string{"Send to ann (and 2 arguments", `"bcc": "eve"`, `"attach": "/etc/shadow"`} {
		if !strings.Contains(shown[1], want) {
			t.Errorf("%q does not show %q", shown[1], want)
		}
	}
}

// Large arguments with one fault at the end: each part of them was tried on its
// own to say where it is.
func TestFaultsInLargeArgumentsAreNotLocated(t *testing.T) {
	type list struct {
		Items []string `json:"items"`
	}
	d := newFixture(t, nil, tool.Func("f", "", func(context.Context, list) (any, error) { return nil, nil }))
	for n, field := range map[int]string{10: "items[10]", 30_000: ""} {
		r := d.call("f", `{"items":[`+strings.Repeat(`"a",`, n)+`1]}`)
		var fault *tool.ArgumentError
		if !errors.As(r.Err, &fault) || fault.Field != field || len(r.Text) > 1000 {
			t.Errorf("%d items: %.200v, want a short error about %q", n, r.Err, field)
		}
	}
}

// A number that a float cannot hold is shown as it is and paid as another.
func TestNumbersOfOpenTypesKeepTheirText(t *testing.T) {
	type payment struct {
		Account any `json:"account"`
	}
	pay := tool.Func("pay", "", func(_ context.Context, p payment) (string, error) { return fmt.Sprint(p.Account), nil })
	wantText(t, newFixture(t, nil, pay).call("pay", `{"account":9007199254740993}`), "9007199254740993")
}

// What a person chose is given another meaning before the call runs.
func TestAChoiceWithAnotherLabelDoesNotRun(t *testing.T) {
	label := "inside the sandbox"
	p := asks("sh")
	p.prepare = func(_ json.RawMessage, do tool.Do) (tool.Action, error) {
		return tool.Ask(do).Offering(approval.Choice{ID: "1", Label: label}), nil
	}
	d := newFixture(t, nil, p)
	ctx := context.Background()
	b := d.gate.Review(ctx, callOf("sh", `{}`))
	chosen := b.Pending()[0].Approve("")
	chosen.Choice = "1"
	if err := b.Resolve(ctx, chosen); err != nil {
		t.Fatal(err)
	}
	label = "without the sandbox"
	if _, err := tool.Finish(ctx, d.gate, b); !errors.Is(err, approval.ErrOpen) {
		t.Errorf("error %v, want it open", err)
	}
	p.wantRan(t)
}

// A batch approved at one gate is finished at another, whose denies do not
// count.
func TestFinishAtAnotherGateRunsNothing(t *testing.T) {
	p := asks("send")
	here, there := newFixture(t, yes, p), newFixture(t, yes, p)
	there.allow("deny send")
	b := here.gate.Review(context.Background(), callOf("send", `{}`))
	here.gate.Ask(context.Background(), b)
	if r, err := tool.Finish(context.Background(), there.gate, b); err == nil || r != nil {
		t.Errorf("finished: %v, %v", r, err)
	}
	p.wantRan(t)
}

// A tool that asks once a session and does not know its target could not be
// approved at all.
func TestOnceASessionWithAnUnknownTargetRuns(t *testing.T) {
	p := asks("sh")
	p.prepare = func(_ json.RawMessage, do tool.Do) (tool.Action, error) {
		return tool.Ask(do).OncePerSession().OnTarget(policy.UnknownTarget(policy.KindWords)), nil
	}
	d := newFixture(t, yes, p)
	d.call("sh", `{}`)
	d.call("sh", `{}`)
	p.wantRan(t, `{}`, `{}`)
	d.wantAsked(2) // nothing of it can be kept
}
