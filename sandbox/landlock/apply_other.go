//go:build !linux

package landlock

import "errors"

// Version says that there is no Landlock here.
func Version() (int, bool) { return 0, false }

// Apply refuses.
func Apply() error { return errors.New("Landlock is for Linux only") }
