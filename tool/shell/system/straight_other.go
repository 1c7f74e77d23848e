//go:build !linux

package system

// straight would say that no link is on the way to the folder; here nobody knows.
func straight(string) bool { return false }
