//go:build all

package soundness

import "slices"

// further are programs that act as well, where their packages may be asked for.
var further = []string{"busybox", "gawk", "jq", "rg"}

func init() {
	acting = append(acting, further...)
	mute = slices.DeleteFunc(mute, func(name string) bool { return slices.Contains(further, name) })
}
