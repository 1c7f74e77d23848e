// Package bwrap holds processes to a profile with bubblewrap, Linux's user and mount
// namespaces as a small program, and a filter for system calls.
//
// Bubblewrap protects as well as its arguments. [Plan] writes them, purely, from a layout:
// an empty root, the system read-only, private folders, then the profile's layers with
// parents before children, and the root made read-only at the end, so that a write beside
// the roots fails instead of vanishing. The order matters, and so does what looks
// superfluous; each line says why it is there.
//
// Three habits keep bubblewrap itself from being used against its caller. It never makes
// anything below a folder that a command may write: the [Runner] makes what must exist,
// following no link, and takes it away again, also after it was killed. It is given open
// files to mount, where it can take them, and not names. And it is run with an empty
// environment, from a fixed list of places, never as a set-id program.
//
// A command does not run when bubblewrap has started it but when the runner says so. By
// then it has seen the sandbox stand: see package prelude.
package bwrap

// Name is what this runner is called.
const Name = "bwrap"
