package tool_test

import (
	"fmt"

	"github.com/assent-dev/assent/tool"
)

// Config by name stands over tools that are left as they are. It wins over what
// a tool says of itself.
func Example_document002_toolConfigs() {
	careful := tool.NeedsApproval(true, fileTool("write_file", "wrote"))[0]
	tools, warnings, err := tool.Configure(tool.Config{
		Tools: []tool.Named{
			{Name: "calculate_*", Approval: "required"},
			{Name: "send_notification", Approval: "none"},
			{Name: "write_file", Approval: "none"}, // though the tool itself would ask
		},
	}, fileTool("calculate_stats", "calculated"), fileTool("send_notification", "sent"), careful)
	fmt.Println(warnings, err)
	gate := guard(person(yes), tools...)
	call(gate, "calculate_stats", `{"path": "sales.csv"}`)
	call(gate, "send_notification", `{"path": "done.txt"}`)
	call(gate, "write_file", `{"path": "a.txt"}`)
	// Output:
	// [] <nil>
	// asked: Tool call: calculate_stats
	// told:  calculated sales.csv
	// told:  sent done.txt
	// told:  wrote a.txt
}

// The list pre_approved still works, and says what to write instead.
func Example_document002_preApproved() {
	careful := tool.NeedsApproval(true, fileTool("tool_a", "ran on"))
	tools, warnings, err := tool.Configure(tool.Config{PreApproved: []string{"tool_a"}}, careful...)
	fmt.Println(warnings, err)
	call(guard(nil, tools...), "tool_a", `{"path": "a.txt"}`)
	// Output:
	// [pre_approved is deprecated: write tools: {tool_a: {approval: allow}}] <nil>
	// told:  ran on a.txt
}
