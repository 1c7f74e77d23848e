package bwrap

import "errors"

// ErrNotSetUp is what a caller is told if bubblewrap gave up before the command ran. What
// it said itself stands on the command's standard error.
var ErrNotSetUp = errors.New("bubblewrap could not set up the sandbox; what it said is on standard error, and 'assent sandbox doctor' looks for the cause")
