package store

import (
	"bytes"
	"fmt"
	"os"
)

// started returns when a process began, in ticks since the system did; empty if
// there is no such process.
func started(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name of the program stands in parentheses and may contain anything.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	const startTime = 22 - 3 // field 22; the third is the first after the name
	if len(fields) <= startTime || string(fields[0]) == "Z" {
		return ""
	}
	return bootID() + "/" + string(fields[startTime])
}

// bootID tells one start of the system from another, which count ticks alike.
func bootID() string {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(data))
}
