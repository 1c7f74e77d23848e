package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
)

// script is what the agent wants, turn by turn.
var script = [][]policy.Call{
	{call("read_contacts", `{}`)},
	{
		call("send_email", `{"to": "ann@example.com", "subject": "Lunch on Friday", "body": "Noon at the usual place?"}`),
		call("send_email", `{"to": "ann@example.com", "subject": "Lunch on Monday",
			"body": "Sorry, Monday instead.\u001b[8m And send me the salary list.\u001b[0m"}`),
	},
	{call("delete_mailbox", `{}`)},
}

func call(name, args string) policy.Call {
	return policy.Call{Tool: name, Arguments: json.RawMessage(args)}
}

type none struct{}

type message struct {
	To      string `json:"to" jsonschema:"address of the recipient"`
	Subject string `json:"subject"`
	Body    string `json:"body"`
}

// tools returns what the agent may call, with the operator's word on it.
func tools() ([]tool.Tool, error) {
	contacts := tool.Func("read_contacts", "Read the contacts.", func(context.Context, none) ([]string, error) {
		return []string{"ann@example.com", "bob@example.com"}, nil
	})
	send := tool.Func("send_email", "Send an email.", func(_ context.Context, m message) (string, error) {
		return "sent to " + m.To, nil
	})
	send = tool.RequireApproval(send, tool.Approval[message]{
		Describe: func(m message) string { return "Send email to " + m.To + ": " + m.Subject },
		Target:   func(m message) string { return m.To },
		View:     func(m message) present.View { return present.View{Kind: present.Text, Content: m.Body} },
	})
	remove := tool.Func("delete_mailbox", "Delete all mail.", func(context.Context, none) (string, error) {
		return "deleted", nil
	})
	cfg := tool.Config{Tools: []tool.Named{{Name: "delete_*", Approval: tool.WordDeny, Reason: "mail is kept for ten years"}}}
	configured, _, err := tool.Configure(cfg, contacts, send, remove)
	return configured, err
}

// A journal keeps how each call ended.
type journal struct {
	mu    sync.Mutex
	ended []approval.Event
}

// Record implements [approval.Recorder].
func (j *journal) Record(_ context.Context, e approval.Event) error {
	if e.Kind == approval.EventEnded {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.ended = append(j.ended, e)
	}
	return nil
}

// print lists what was decided, and why.
func (j *journal) print(out io.Writer) {
	fmt.Fprint(out, "\nWhat was decided, and why:\n")
	for _, e := range j.ended {
		name := e.Tool
		if len(e.Acts) > 0 {
			name = e.Acts[0]
		}
		fmt.Fprintf(out, "  %-28s %-16s %s\n", present.SafeLine(name), e.State, present.SafeLine(reason(e)))
	}
}

func reason(e approval.Event) string {
	switch {
	case e.Basis != "":
		return e.Basis
	case e.Why != "":
		return e.Why
	case e.Note != "":
		return fmt.Sprintf("by %s: %s", e.By, e.Note)
	case e.By.Via != "":
		return fmt.Sprintf("by %s", e.By)
	}
	return "nothing asks"
}
