// Package wall limits which files one thread, and what it starts, can write and execute: it holds
// them to a [sandbox.Wall] with Landlock. The mounts of a sandbox hold the command as a whole; this
// holds each program to what the command was judged to do.
//
// It uses the kernel's calls directly: libraries for Landlock restrict every thread of a
// process, and the one that decides what to start must stay free.
package wall

import "github.com/assent-dev/assent/sandbox"

// Rules are a wall with what stays writable whatever the command is: places that end with it.
type Rules struct {
	sandbox.Wall
	// Private are folders of which nothing outlives the command. One that holds a root is left
	// out by whoever makes the list: a rule covers all that lies below a folder.
	Private []string
}
