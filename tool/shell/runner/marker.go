package runner

import (
	"crypto/rand"
	"os"
	"strings"
)

// Marker is the variable that every process of a call has in its environment. Its
// value is different for every call.
const Marker = "ASSENT_CALL"

// Inside reports whether this process was started by a tool call: the marker is in its
// own environment or, on Linux, was in that of a parent when that started. A process
// that cleared its environment, and left its parents behind or took the place of bash,
// is not recognised.
func Inside() bool {
	_, marked := os.LookupEnv(Marker)
	return marked || parentMarked()
}

// newMarker returns a value that begins with the id of the call and that nobody can
// have had before.
func newMarker(call string) string {
	name := strings.Map(func(c rune) rune {
		if strings.ContainsRune("-_.", c) || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' {
			return c
		}
		return -1
	}, call)
	return name[:min(len(name), 64)] + "." + rand.Text()
}
