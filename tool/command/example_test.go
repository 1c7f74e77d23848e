package command_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/sandbox/launch"
	"github.com/assent-dev/assent/tool"
	"github.com/assent-dev/assent/tool/command"
)

func Example() {
	count, err := command.New(command.Config{
		Name:       "count_words",
		Command:    []string{"wc", "-w"},
		Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
		Describe:   "Count the words of {{.text | cut 10}}",
	}, command.Options{Dir: os.TempDir(), Runner: launch.None{}, Environ: os.Environ()})
	if err != nil {
		fmt.Println(err)
		return
	}
	person := approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
		fmt.Println("asked:", r.Summary)
		return r.Approve(""), nil
	})
	gate, err := tool.Guard(approval.Config{Approver: person}, count)
	if err != nil {
		fmt.Println(err)
		return
	}
	result := tool.Call(context.Background(), gate, policy.Call{
		ID: "1", Tool: "count_words", Arguments: json.RawMessage(`{"text":"as many as there are"}`),
	})
	fmt.Println("words of the JSON:", result.Text)
	// Output:
	// asked: Count the words of as many as…
	// words of the JSON: 5
}
