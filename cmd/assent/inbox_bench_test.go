package main

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/approval/approvaltest"
	"github.com/assent-dev/assent/internal/inbox"
	"github.com/assent-dev/assent/store"
)

// BenchmarkInbox measures, between two processes' stores, how long it takes until an inbox
// sees what was posted, and until who posted has the answer.
func BenchmarkInbox(b *testing.B) {
	folder := b.TempDir()
	asks := openedStore(b, folder)
	in, err := inbox.Open(b.Context(), openedStore(b, folder), inbox.Options{Owner: store.ThisProcess()})
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	changed, stop := in.Watch()
	defer stop()
	var seen, taken []time.Duration
	for b.Loop() {
		r := approvaltest.Requests(b, 1, "s")[0]
		got := make(chan time.Time)
		posted := time.Now()
		go func() {
			_, _ = approval.Queue(asks).Approve(b.Context(), r)
			got <- time.Now()
		}()
		waiting := in.Pending()
		for ; len(waiting) == 0; waiting = in.Pending() {
			<-changed
		}
		seen = append(seen, time.Since(posted))
		answered := time.Now()
		if err := in.Resolve(context.Background(), waiting[0].Approve("")); err != nil {
			b.Fatal(err)
		}
		taken = append(taken, (<-got).Sub(answered))
	}
	b.ReportMetric(median(seen), "ms-to-see")
	b.ReportMetric(median(taken), "ms-to-take")
}

// median is the median in milliseconds.
func median(all []time.Duration) float64 {
	slices.Sort(all)
	return float64(all[len(all)/2]) / float64(time.Millisecond)
}
