package approval_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// mail says what a call would do. A program with tools of its own uses package tool instead.
type mail struct{}

func (mail) Prepare(_ context.Context, call policy.Call) (approval.Proposal, error) {
	var args struct{ To string }
	err := json.Unmarshal(call.Arguments, &args)
	act := policy.Act{Name: call.Tool, Target: policy.TextTarget(args.To), Verdict: policy.VerdictAsk}
	return approval.Proposal{Acts: []policy.Act{act}, Summary: "Send mail to " + args.To}, err
}

// The calls of a turn are reviewed, and what needs a person waits. An answer may come at any time.
func ExampleGate_Review() {
	ids := 0
	gate, err := approval.New(approval.Config{
		Preparer: mail{},
		Clock:    func() time.Time { return time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC) },
		NewID:    func() string { ids++; return strconv.Itoa(ids) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gate.Close()
	ctx := context.Background()
	batch := gate.Review(ctx, policy.Call{ID: "a", Tool: "send", Arguments: json.RawMessage(`{"to": "ann"}`)})
	fmt.Println(batch.Outcome(0).State, batch.Pending()[0].Summary)
	if err := batch.Resolve(ctx, batch.Pending()[0].Deny("not today")); err != nil {
		fmt.Println(err)
	}
	fmt.Println(batch.Outcome(0).Err())
	// Output:
	// pending Send mail to ann
	// send was denied: a person said no: not today
}
