//go:build !linux

package store

import (
	"os"
	"syscall"
)

// started returns a word for a process that is there, and nothing for one that is
// not. A number that is used again is taken for the same process.
func started(pid int) string {
	p, err := os.FindProcess(pid)
	if err != nil || p.Signal(syscall.Signal(0)) != nil {
		return ""
	}
	return "there"
}
