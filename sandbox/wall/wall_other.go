//go:build !linux

package wall

import (
	"errors"
	"os"
)

// Version returns the version of Landlock that the kernel has: only Linux has one.
func Version() (int, bool) { return 0, false }

// A Set is rules that the kernel knows; elsewhere there are none.
type Set struct{}

var errNone = errors.New("this system has no Landlock")

// Open fails: only Linux has Landlock.
func Open(Rules) (*Set, error) { return nil, errNone }

// Grant fails.
func (*Set) Grant(*os.File) error { return errNone }

// Restrict fails.
func (*Set) Restrict() error { return errNone }
