package store_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/store"
)

// A run asks, and an inbox in another process answers.
func Example() {
	ctx := context.Background()
	folder, _ := os.MkdirTemp("", "state")
	defer os.RemoveAll(folder)

	run, err := store.Open(ctx, folder, store.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer run.Close()
	gate, err := approval.New(approval.Config{
		Preparer: approvaltest.NewTools("send_email"), Clock: time.Now, NewID: approvaltest.IDs(),
		Rules: run, Recorder: run, Requests: run, Approver: approval.Queue(run),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gate.Close()

	asked := make(chan struct{}, 10)
	inbox, err := store.Open(ctx, folder, store.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer inbox.Close()
	defer inbox.NotifyRequests(func() { asked <- struct{}{} })()
	go func() {
		<-asked
		open, _ := inbox.Open(ctx, "")
		inbox.Answer(ctx, open[0].Request.Approve("go ahead"))
	}()

	for _, o := range gate.Decide(ctx, policy.Call{ID: "1", Tool: "send_email"}) {
		fmt.Println(o.Call.Tool, "was", o.State, "with the note:", o.Note())
	}
	// Output: send_email was approved with the note: go ahead
}
