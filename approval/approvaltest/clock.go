package approvaltest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Epoch is when a new [Clock] begins.
var Epoch = time.Date(2026, time.January, 2, 15, 4, 5, 0, time.UTC)

// A Clock shows the time that it was set to. The zero Clock shows [Epoch]. It is
// safe for concurrent use.
type Clock struct {
	mu     sync.Mutex
	passed time.Duration
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Epoch.Add(c.passed)
}

// Advance lets time pass.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passed += d
}

// Set sets the time.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passed = now.Sub(Epoch)
}

// IDs returns a function that returns id-1, id-2 and so on. It is safe for
// concurrent use.
func IDs() func() string {
	var n atomic.Int64
	return func() string { return fmt.Sprintf("id-%d", n.Add(1)) }
}
