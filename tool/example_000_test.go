package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/present"
	"github.com/assent-dev/assent/tool"
)

// A note is what write_file takes.
type note struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// notesWriter writes files; it asks for those outside of cache/.
type notesWriter struct{ files map[string]string }

func (w notesWriter) Spec() tool.Spec {
	return tool.Spec{Name: "write_file", Description: "Write a file.", Schema: json.RawMessage(
		`{"type": "object", "required": ["path", "content"],
		  "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}`)}
}

func (w notesWriter) Prepare(_ context.Context, args json.RawMessage) (tool.Action, error) {
	var in note
	if err := json.Unmarshal(args, &in); err != nil {
		return tool.Action{}, err
	}
	write := func(context.Context) (any, error) {
		w.files[in.Path] = in.Content
		return "wrote " + in.Path, nil
	}
	target := policy.PathTarget(in.Path)
	if strings.HasPrefix(in.Path, "cache/") {
		return tool.Free(write).OnTarget(target), nil
	}
	return tool.Ask(write).OnTarget(target).
		Titled(fmt.Sprintf("Write %d chars to %s", len(in.Content), in.Path)).
		ShowingView(present.View{Kind: present.KindFile, Content: in.Content}), nil
}

// A tool that knows what its calls mean prepares them by hand: one folder asks,
// another is free.
func Example_document000_checkApproval() {
	w := notesWriter{files: map[string]string{}}
	gate := guard(person(yes), w)
	call(gate, "write_file", `{"path": "cache/analysis.json", "content": "{}"}`)
	call(gate, "write_file", `{"path": "notes/log.txt", "content": "Meeting notes"}`)
	fmt.Println(len(w.files), "files")
	// Output:
	// told:  wrote cache/analysis.json
	// asked: Write 13 chars to notes/log.txt
	// told:  wrote notes/log.txt
	// 2 files
}

// A bare function runs without asking anybody.
func Example_document000_bareFunction() {
	type sum struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	calculate := tool.Func("calculate", "Add two numbers.", func(_ context.Context, in sum) (int, error) {
		return in.A + in.B, nil
	})
	call(guard(nil, calculate), "calculate", `{"a": 40, "b": 2}`)
	// Output:
	// told:  42
}

type email struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Body    string `json:"body"`
}

func sendEmail(_ context.Context, m email) (string, error) { return "Email sent to " + m.To, nil }

// RequireApproval works like a decorator. The payload is what is remembered: a
// yes for the session holds for the same recipient and subject, whatever the
// body is.
func Example_document000_requiresApproval() {
	send := tool.RequireApproval(tool.Func("send_email", "Send an email.", sendEmail), tool.Approval[email]{
		Describe: func(m email) string { return "Send email to " + m.To + ": " + m.Subject },
		Payload:  func(m email) any { return map[string]string{"to": m.To, "subject": m.Subject} },
	})
	gate := guard(person(func(r *approval.Request) approval.Decision {
		fmt.Println("act:  ", r.Acts[0])
		return r.Approve("").ForSession(policy.ReachExact)
	}), send)
	call(gate, "send_email", `{"to": "ann", "subject": "Lunch", "body": "Noon?"}`)
	call(gate, "send_email", `{"to": "ann", "subject": "Lunch", "body": "Or one?"}`)
	// Output:
	// asked: Send email to ann: Lunch
	// act:   send_email({"subject":"Lunch","to":"ann"})
	// told:  Email sent to ann
	// told:  Email sent to ann
}

// Story 4: with a single word for what the call is about, rules can name it.
func Example_document000_slackNotify() {
	type message struct {
		Channel string `json:"channel"`
		Message string `json:"message"`
	}
	notify := tool.RequireApproval(
		tool.Func("slack_notify", "Send a Slack notification.", func(_ context.Context, m message) (string, error) {
			return "Sent to #" + m.Channel, nil
		}),
		tool.Approval[message]{
			Describe: func(m message) string { return "Send to #" + m.Channel + ": " + m.Message },
			Target:   func(m message) string { return m.Channel },
		})
	memory := approval.NewMemory(0)
	gate := must(tool.Guard(approval.Config{Approver: person(yes), Rules: memory}, notify))
	rule := must(policy.ParseRule("allow slack_notify(builds)"))
	if err := memory.AddRules(context.Background(), rule); err != nil {
		fmt.Println(err)
	}
	call(gate, "slack_notify", `{"channel": "general", "message": "Build completed!"}`)
	call(gate, "slack_notify", `{"channel": "builds", "message": "Build completed!"}`)
	// Output:
	// asked: Send to #general: Build completed!
	// told:  Sent to #general
	// told:  Sent to #builds
}

// The view is built from the arguments, and only when somebody looks.
func Example_document000_httpPost() {
	type post struct {
		URL  string          `json:"url"`
		Body json.RawMessage `json:"body"`
	}
	view := func(p post) present.View {
		return present.View{Kind: present.KindStructured, Language: "json", Content: string(p.Body), Facts: present.Facts{
			present.TextFact(present.FactMethod, "POST"),
			present.TextFact(present.FactURL, p.URL),
		}}
	}
	httpPost := tool.RequireApproval(
		tool.Func("http_post", "Post JSON.", func(context.Context, post) (string, error) { return "201 Created", nil }),
		tool.Approval[post]{Describe: func(p post) string { return "POST to " + p.URL }, View: view})
	gate := guard(person(func(r *approval.Request) approval.Decision {
		shown := must(r.View(context.Background())).Safe()
		fmt.Println(shown.Kind, shown.Facts, shown.Content)
		return r.Approve("")
	}), httpPost)
	call(gate, "http_post", `{"url": "https://api.example.com/users", "body": {"name": "John Doe", "role": "admin"}}`)
	// Output:
	// asked: POST to https://api.example.com/users
	// structured ["method": "POST" "url": "https://api.example.com/users"] {"name":"John Doe","role":"admin"}
	// told:  201 Created
}
