//go:build !linux

package store

import (
	"context"
	"time"
)

// hangBell returns nil: the watcher looks from time to time.
func hangBell(context.Context, string) func(time.Duration) bool { return nil }
