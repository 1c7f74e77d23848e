// Email is an agent that wants to send email, with a person asked first.
//
// The agent is a script, so that it needs no model and no network: it reads the contacts, which
// is free, wants to send two emails, which are asked, and wants to delete the mailbox, which
// policy.yaml beside it denies. At the end it prints what the audit log says.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/assent-dev/assent"
	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/terminal"
	"github.com/assent-dev/assent/tool"
)

func main() {
	if err := run(context.Background(), filepath.Join("examples", "email", "policy.yaml"), terminal.New(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "email:", err)
		os.Exit(1)
	}
}

// run opens the front door, plays the agent's script, turn by turn, and prints what was decided.
func run(ctx context.Context, file string, asks approval.Approver, out io.Writer) (err error) {
	a, err := assent.Open(ctx, assent.Options{Policy: file, Approver: asks, Tools: tools()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	for _, turn := range script {
		for _, result := range a.Calls(ctx, turn...) {
			fmt.Fprintf(out, "\n%s → %s\n", result.Tool, present.Safe(result.Text))
		}
	}
	fmt.Fprint(out, "\nWhat was decided:\n")
	for r, err := range a.Store().Records(ctx, approval.RecordFilter{Session: a.Session()}) {
		if err != nil {
			return err
		}
		if r.Kind == approval.EventEnded {
			fmt.Fprintf(out, "  %-28s %s\n", present.SafeLine(r.Acts[0]), r.State)
		}
	}
	return nil
}

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

// tools are what the agent may call.
func tools() []tool.Tool {
	contacts := tool.Func("read_contacts", "Read the contacts.", func(context.Context, none) ([]string, error) {
		return []string{"ann@example.com", "bob@example.com"}, nil
	})
	send := tool.Func("send_email", "Send an email.", func(_ context.Context, m message) (string, error) {
		return "sent to " + m.To, nil
	})
	send = tool.RequireApproval(send, tool.Approval[message]{
		Describe: func(m message) string { return "Send email to " + m.To + ": " + m.Subject },
		Target:   func(m message) string { return m.To },
		View:     func(m message) present.View { return present.View{Kind: present.KindText, Content: m.Body} },
	})
	remove := tool.Func("delete_mailbox", "Delete all mail.", func(context.Context, none) (string, error) {
		return "deleted", nil
	})
	return []tool.Tool{contacts, send, remove}
}
