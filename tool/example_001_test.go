package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// file is what the file tools of these examples take.
type file struct {
	Path string `json:"path"`
}

// fileTool returns a tool that says what it did to a file.
func fileTool(name, did string) tool.Tool {
	return tool.Func(name, "", func(_ context.Context, f file) (string, error) { return did + " " + f.Path, nil })
}

// needsApproval as a bool: reading is free, writing asks.
func Example_document001_needsApproval() {
	read, write := fileTool("read_file", "read"), fileTool("write_file", "wrote")
	tools := append(tool.NeedsApproval(true, write), tool.NeedsApproval(false, read)...)
	gate := guard(person(yes), tools...)
	call(gate, "read_file", `{"path": "a.txt"}`)
	call(gate, "write_file", `{"path": "a.txt"}`)
	// Output:
	// told:  read a.txt
	// asked: Tool call: write_file
	// told:  wrote a.txt
}

// needsApproval as a function of the arguments: the zone decides.
func Example_document001_needsApprovalFunction() {
	outsideScratch := func(_ context.Context, c policy.Call) (bool, error) {
		var f file
		err := json.Unmarshal(c.Arguments, &f)
		return !strings.HasPrefix(f.Path, "/scratch/"), err
	}
	gate := guard(person(yes), tool.NeedsApprovalIf(outsideScratch, fileTool("write_file", "wrote"))...)
	call(gate, "write_file", `{"path": "/scratch/temp.txt"}`)
	call(gate, "write_file", `{"path": "/output/report.md"}`)
	// Output:
	// told:  wrote /scratch/temp.txt
	// asked: Tool call: write_file
	// told:  wrote /output/report.md
}

// What is blocked is never asked. It is a violation of policy and no person's
// choice, so it has an error of its own.
func Example_document001_blocked() {
	tools, _, err := tool.Configure(tool.Config{
		Tools: []tool.Named{{Name: "dangerous_tool", Approval: "blocked", Reason: "Disabled"}},
	}, fileTool("dangerous_tool", "destroyed"))
	gate := guard(person(yes), tools...)
	result := tool.Call(context.Background(), gate, policy.Call{
		Tool: "dangerous_tool", Arguments: json.RawMessage(`{"path": "/"}`),
	})
	var blocked *approval.BlockedError
	if errors.As(result.Err, &blocked) {
		fmt.Println(blocked.Why, err)
	}
	fmt.Println(result.Text)
	// Output:
	// Disabled <nil>
	// [BLOCKED] dangerous_tool did not run. Policy forbids it and nobody can approve it: Disabled. Do not retry it; find another way.
}
