//go:build !linux

package fingerprint

// Key is empty: nothing is kept here.
func Key(...string) string { return "" }

// FileKey is empty: nothing is kept here.
func FileKey(string) string { return "" }

// ReadOwn reads nothing: nothing is kept here.
func ReadOwn(string) ([]byte, bool) { return nil, false }
