package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// Option 1: one function over a whole set sees the name and the arguments.
func Example_document003_wholeSet() {
	needs := func(_ context.Context, c policy.Call) (bool, error) {
		var f file
		err := json.Unmarshal(c.Arguments, &f)
		return c.Tool == "write_file" || f.Path == ".env", err
	}
	gate := guard(person(yes), tool.NeedsApprovalIf(needs,
		fileTool("read_file", "read"), fileTool("write_file", "wrote"))...)
	call(gate, "read_file", `{"path": "a.txt"}`)
	call(gate, "read_file", `{"path": ".env"}`)
	call(gate, "write_file", `{"path": "a.txt"}`)
	// Output:
	// told:  read a.txt
	// asked: Tool call: read_file
	// told:  read .env
	// asked: Tool call: write_file
	// told:  wrote a.txt
}

// Deferred: the run stops, is saved as bytes, the answers are collected by the
// ids of the calls, and another gate goes on.
func Example_document003_deferred() {
	ctx := context.Background()
	write := tool.NeedsApproval(true, fileTool("write_file", "wrote"))

	// Stop and save.
	batch := guard(nil, write...).Review(ctx,
		policy.Call{ID: "call-1", Tool: "write_file", Arguments: json.RawMessage(`{"path": "a.txt"}`)},
		policy.Call{ID: "call-2", Tool: "write_file", Arguments: json.RawMessage(`{"path": ".env"}`)},
		policy.Call{ID: "call-3", Tool: "write_file", Arguments: json.RawMessage(`{"path": "/etc/motd"}`)})
	saved := must(json.Marshal(batch))

	// Later, in another process: collect.
	gate := guard(nil, write...)
	batch = must(gate.Restore(ctx, saved))
	answers := map[string]func(*approval.Request) approval.Decision{
		"call-1": func(r *approval.Request) approval.Decision { return r.Approve("keep it short") },
		"call-2": func(r *approval.Request) approval.Decision { return r.Deny("no secrets, please") },
		"call-3": func(r *approval.Request) approval.Decision { // override_args
			changed := must(batch.Preview(ctx, r.ID, []byte(`{"path": "motd.txt"}`)))
			d := r.Change(changed.Call.Arguments, "")
			d.Fingerprint = changed.Fingerprint // the changed call was looked at
			return d
		},
	}
	for _, r := range batch.Pending() {
		if err := batch.Resolve(ctx, answers[r.Call.ID](r)); err != nil {
			fmt.Println(err)
		}
	}

	// Resume.
	for _, result := range must(tool.Finish(ctx, gate, batch)) {
		fmt.Printf("%s: %s\n", result.ID, result.Text)
	}
	// Output:
	// call-1: wrote a.txt
	//
	// [The person who answered says: keep it short]
	// call-2: [DENIED] write_file did not run; nothing was changed. Reason: a person said no. The person said: no secrets, please. Do not retry the same call unless you are told to.
	// call-3: wrote motd.txt
	//
	// [A person changed the arguments before approving. What ran: {"path":"motd.txt"}]
}

// An answer may be for this once, for the session, or for always. Always needs a
// place to keep rules: without one it is an error and nothing is remembered.
func Example_document003_remember() {
	ctx := context.Background()
	write := tool.NeedsApproval(true, fileTool("write_file", "wrote"))
	gate := guard(nil, write...)
	batch := gate.Review(ctx, policy.Call{Tool: "write_file", Arguments: json.RawMessage(`{"path": "a.txt"}`)})
	r := batch.Pending()[0]

	err := batch.Resolve(ctx, r.Approve("").Always("allow write_file"))
	fmt.Println(errors.Is(err, approval.ErrNoRuleStore), len(batch.Pending()), "pending")

	err = batch.Resolve(ctx, r.Approve("").ForSession(policy.ReachExact))
	fmt.Println(err, len(batch.Pending()), "pending")
	call(gate, "write_file", `{"path": "a.txt"}`) // nobody is asked again
	// Output:
	// true 1 pending
	// <nil> 0 pending
	// told:  wrote a.txt
}

// Two gates may share one memory: a rule that one is told holds for the other.
func Example_document003_sharedMemory() {
	write := tool.NeedsApproval(true, fileTool("write_file", "wrote"))
	memory := approval.NewMemory(0)
	always := person(func(r *approval.Request) approval.Decision { return r.Approve("").Always("allow write_file") })
	first := must(tool.Guard(approval.Config{Approver: always, Rules: memory, Grants: memory}, write...))
	second := must(tool.Guard(approval.Config{Approver: always, Rules: memory, Grants: memory}, write...))
	call(first, "write_file", `{"path": "a.txt"}`)
	call(second, "write_file", `{"path": "b.txt"}`)
	// Output:
	// asked: Tool call: write_file
	// told:  wrote a.txt
	// told:  wrote b.txt
}
