//go:build !linux

package detect

// remounts has nothing to try here.
func remounts(string) bool { return false }

// traces has nothing to try here.
func traces() bool { return false }
