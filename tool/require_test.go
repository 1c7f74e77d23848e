package tool_test

import (
	"errors"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

func forSession(r *approval.Request) approval.Decision {
	return r.Approve("").ForSession(policy.ReachExact)
}

// What a grant covers is the target, the payload or, without them, every
// argument.
func TestWhatASessionGrantCovers(t *testing.T) {
	to := func(m email) string { return m.To }
	payload := func(m email) any { return map[string]string{"to": m.To, "subject": m.Subject} }
	tests := map[string]struct {
		how   tool.Approval[email]
		asked int
	}{
		"target":    {tool.Approval[email]{Target: to}, 2},
		"payload":   {tool.Approval[email]{Payload: payload}, 3},
		"arguments": {tool.Approval[email]{}, 4},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t, forSession, tool.RequireApproval(tool.Func("send", "", sendEmail), test.how))
			for _, args := range []string{
				`{"to": "ann", "subject": "a", "body": "1"}`,
				`{"to": "ann", "subject": "a", "body": "2"}`,
				`{"to": "ann", "subject": "b", "body": "2"}`,
				`{"to": "bob", "subject": "b", "body": "2"}`,
				`{"body": "1", "subject": "a", "to": "ann"}`, // the first again
			} {
				if r := d.call("send", args); r.Err != nil {
					t.Errorf("%s: %v", args, r.Err)
				}
			}
			d.wantAsked(test.asked)
		})
	}
}

// A payload can be kept for always: the rule that is offered covers it.
func TestPayloadKeptForAlways(t *testing.T) {
	send := tool.RequireApproval(tool.Func("send", "", sendEmail), tool.Approval[email]{
		Payload: func(m email) any { return map[string]string{"to": m.To, "subject": m.Subject} },
	})
	d := newFixture(t, func(r *approval.Request) approval.Decision { return r.Approve("").Always() }, send)
	const args = `{"to": "ann (home) *", "subject": "[a] \\ \"b\"", "body": ""}`
	d.call("send", args)
	if r := d.call("send", args); r.Outcome.State != policy.StateAutoApproved {
		t.Errorf("the second time it is %s: %v", r.Outcome.State, r.Err)
	}
	d.wantAsked(1)
	d.call("send", `{"to": "ann (home) * and eve", "subject": "[a] \\ \"b\"", "body": ""}`)
	d.wantAsked(2)
}

func TestPayloadThatCannotBeWritten(t *testing.T) {
	send := tool.RequireApproval(tool.Func("send", "", sendEmail), tool.Approval[email]{
		Payload: func(email) any { return func() {} },
	})
	d := newFixture(t, yes, send)
	if r := d.call("send", `{"to": "", "subject": "", "body": ""}`); !errors.Is(r.Err, approval.ErrInvalid) {
		t.Errorf("error %v", r.Err)
	}
	d.wantAsked(0)
}

// A tool that names its own acts keeps them.
func TestRequireApprovalKeepsActs(t *testing.T) {
	w := notesWriter{files: map[string]string{}}
	d := newFixture(t, yes, tool.RequireApproval(w, tool.Approval[note]{Target: func(note) string { return "elsewhere" }}))
	d.call("write_file", `{"path": "cache/a", "content": ""}`)
	d.wantAsked(1)
	if act := d.asked[0].Acts[0].String(); act != "write_file(cache/a)" {
		t.Errorf("act %s", act)
	}
}
