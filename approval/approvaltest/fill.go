package approvaltest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// atOnce is how many record at once in [Fill]: stores commit those who wait
// together.
const atOnce = 512

// Fill records n calls that ended, a second after one another, for benchmarks with
// a large log.
func Fill(ctx context.Context, log approval.Recorder, n int) error {
	var next atomic.Int64
	var all sync.WaitGroup
	errs := make(chan error, atOnce)
	for range atOnce {
		all.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				if err := log.Record(ctx, filler(i)); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(errs)
	var failed []error
	for err := range errs {
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

func filler(i int64) approval.Event {
	return approval.Event{
		Kind: approval.EventEnded, At: Epoch.Add(time.Duration(i) * time.Second), Session: fmt.Sprint("s", i/1000),
		CallID: fmt.Sprint(i), Tool: "send", State: policy.StateFree, Stage: approval.StageCompleted,
		Arguments: []byte(`{"to":"ann"}`),
	}
}
