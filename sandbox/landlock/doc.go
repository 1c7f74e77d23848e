// Package landlock holds processes to a profile with Landlock, which Linux lets every
// program use on itself, for machines where bubblewrap cannot run.
//
// It is weaker, and named so wherever it is used. Landlock only ever adds up what may be
// reached, so nothing inside a writable folder can be kept from being written: a profile
// with such a folder is refused, as is one that hides a part of a root. It does not see
// changes of modes, times and attributes; it has no private /tmp, no private process list
// and no loopback; and what leaves its process group outlives the command.
//
// A program can restrict only itself, and Go's runtime starts threads as it likes. So the
// command is started through a copy of this program, whose [Apply] restricts the thread
// that then becomes the command.
package landlock
