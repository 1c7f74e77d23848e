package mcptest

import (
	"os"
	"testing"
	"time"
)

// AwaitFile waits until a file is there, or gone: servers say so what they do.
func AwaitFile(t testing.TB, file string, there bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(file); (err == nil) == there {
			return
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Errorf("%s: there is still %v", file, !there)
			return
		}
	}
}
