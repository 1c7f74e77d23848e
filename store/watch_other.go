//go:build !linux

package store

import "context"

// watchLog returns nil: the watcher looks from time to time.
func watchLog(context.Context, string) func() bool { return nil }
