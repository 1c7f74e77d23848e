package tool_test

import (
	"context"
	"fmt"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// printed records events by printing how each call ended.
type printed struct{}

func (printed) Record(_ context.Context, e approval.Event) error {
	if e.Kind == approval.EventEnded {
		basis := e.Basis
		if basis == "" {
			basis = "by " + string(e.By.Via)
		}
		fmt.Printf("log:   %s: %s, %s %s\n", e.Stage, e.Tool, e.State, basis)
	}
	return nil
}

// Rules answer first, denies before allows; then what was approved for this
// session; then a person. Every decision is recorded, with what decided.
func Example_document004_rulesAndRecords() {
	memory := approval.NewMemory(0)
	for _, text := range []string{"allow github_*", "deny github_delete_*"} {
		if err := memory.AddRules(context.Background(), must(policy.ParseRule(text))); err != nil {
			fmt.Println(err)
		}
	}
	forSession := person(func(r *approval.Request) approval.Decision {
		return r.Approve("").ForSession(policy.ReachTool)
	})
	gate := must(tool.Guard(approval.Config{Approver: forSession, Rules: memory, Grants: memory, Recorder: printed{}},
		tool.NeedsApproval(true, fileTool("github_search", "searched"),
			fileTool("github_delete_repo", "deleted"), fileTool("send_mail", "mailed"))...))
	call(gate, "github_search", `{"path": "issues"}`)
	call(gate, "github_delete_repo", `{"path": "assent"}`)
	call(gate, "send_mail", `{"path": "a.txt"}`)
	call(gate, "send_mail", `{"path": "b.txt"}`)
	// Output:
	// log:   completed: github_search, auto-approved rule allow github_*
	// told:  searched issues
	// log:   refused: github_delete_repo, auto-denied rule deny github_delete_*
	// told:  [DENIED] github_delete_repo did not run; nothing was changed. Reason: policy, rule deny github_delete_*. Do not retry the same call unless you are told to.
	// asked: Tool call: send_mail
	// log:   completed: send_mail, approved by program
	// told:  mailed a.txt
	// log:   completed: send_mail, session-approved grant allow send_mail
	// told:  mailed b.txt
}
