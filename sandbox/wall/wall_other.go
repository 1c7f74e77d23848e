//go:build !linux

package wall

import "errors"

// Version returns the version of Landlock that the kernel has: only Linux has one.
func Version() (int, bool) { return 0, false }

// Restrict fails: only Linux has Landlock.
func Restrict(Rules) error { return errors.New("this system has no Landlock") }
