// Package launch starts the processes of every runner, and finds out before what of the host they
// are shown.
//
// [Survey] turns a profile into a [Layout]. It is done anew for each command, because a
// repository may have been made since the last one. It looks and changes nothing. Two
// things are refused rather than guessed at: a root that leads through a symbolic link by
// now, and a protected name that is one, because what stands there could be another place
// a moment later.
//
// [Start] starts a process from a thread that lives as long as the program: the kernel
// ends a child with the thread that started it, and Go's threads come and go.
package launch
