package group

import "runtime"

// Waiting returns when so many have come, the one that commits among them.
func Waiting[T any](c *Committer[T], n int) {
	for {
		c.mu.Lock()
		come := len(c.waiting) + 1
		c.mu.Unlock()
		if come >= n {
			return
		}
		runtime.Gosched()
	}
}
