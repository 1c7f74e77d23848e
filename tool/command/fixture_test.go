package command_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/command"
)

// script writes an executable file and returns its path.
func script(t *testing.T, file, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

const notifySchema = `{"type":"object","properties":{"channel":{"type":"string"},"message":{"type":"string"},"urgent":{"type":"boolean"}},"required":["channel","message"]}`

// notify is the tool of document 000, story 4.
func notify(program string) command.Config {
	return command.Config{
		Name: "slack_notify", Description: "Sends a message.", Command: []string{program},
		Parameters: json.RawMessage(notifySchema),
		Describe:   "Send to #{{.channel}}: {{.message | cut 50}}", Target: "{{.channel}}",
		Source: "notes.worker:7",
	}
}

func newTool(t *testing.T, c command.Config, dir string) *command.Tool {
	t.Helper()
	made, err := command.New(c, command.Options{Dir: dir, Name: ".", Runner: launch.None{}, Environ: os.Environ(), MaxOutput: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// An answerer answers requests and keeps them.
type answerer struct {
	asked  []*approval.Request
	answer func(*approval.Request) approval.Decision
}

func (a *answerer) gate(t *testing.T, tools ...tool.Tool) *tool.Gate {
	t.Helper()
	gate, err := tool.Guard(approval.Config{Approver: approval.ApproverFunc(
		func(_ context.Context, r *approval.Request) (approval.Decision, error) {
			a.asked = append(a.asked, r)
			if a.answer == nil {
				return r.Approve(""), nil
			}
			return a.answer(r), nil
		},
	)}, tools...)
	if err != nil {
		t.Fatal(err)
	}
	return gate
}

// call runs one call of a tool that is approved if it asks.
func call(ctx context.Context, t *testing.T, made *command.Tool, args string) tool.Result {
	t.Helper()
	return tool.Call(ctx, new(answerer).gate(t, made), policy.Call{ID: "1", Tool: made.Spec().Name, Arguments: json.RawMessage(args)})
}

func prepare(t *testing.T, made *command.Tool, args string) (approval.Proposal, error) {
	t.Helper()
	set, err := tool.NewSet(made)
	if err != nil {
		t.Fatal(err)
	}
	return set.Prepare(t.Context(), policy.Call{ID: "1", Tool: made.Spec().Name, Arguments: json.RawMessage(args)})
}
