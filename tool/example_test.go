package tool_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// person stands in for somebody at a screen: it prints each question and gives
// the answer.
func person(answer func(*approval.Request) approval.Decision) approval.Approver {
	return approval.ApproverFunc(func(_ context.Context, r *approval.Request) (approval.Decision, error) {
		fmt.Println("asked:", r.Summary)
		return answer(r), nil
	})
}

func yes(r *approval.Request) approval.Decision { return r.Approve("") }

// guard puts the tools behind a gate where the approver is asked.
func guard(approver approval.Approver, tools ...tool.Tool) *tool.Gate {
	return must(tool.Guard(approval.Config{Approver: approver}, tools...))
}

// call has the model call a tool, and prints what the model is told.
func call(gate *tool.Gate, name, args string) {
	result := tool.Call(context.Background(), gate, policy.Call{Tool: name, Arguments: json.RawMessage(args)})
	fmt.Println("told: ", result.Text)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
