package gateway

import (
	"sync/atomic"
	"testing"
)

// Everything is done, however much at once, and close waits for it; what comes later is
// not done.
func TestThePoolDoesEverythingUntilItIsClosed(t *testing.T) {
	h := newGoroutinePool()
	var done atomic.Int32
	for range 10 {
		all := make(chan struct{}) // makes them work at the same time
		for i := range 3 * maxIdle {
			h.do(func() {
				if i == 3*maxIdle-1 {
					close(all)
				}
				<-all
				done.Add(1)
			})
		}
	}
	h.close()
	h.do(func() { t.Error("done after the end") })
	if done.Load() != 30*maxIdle {
		t.Errorf("%d are done", done.Load())
	}
}
