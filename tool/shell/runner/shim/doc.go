// Package shim makes the git that runs when a command is free because it only reads.
//
// A plain `git status` starts what the repository's settings name: a file system
// monitor, filters, text converters, hooks, a program for signatures. The shim is a
// small script called git that comes first in PATH, so that the text which was judged
// is still the text that runs: for status, log, diff and show it starts the real git
// with all of that turned off, an environment of its own and no network, and hands
// everything else through, since somebody agreed to that as it stands. git.sh has
// the details, one reason a line.
//
// The script lies in the state folder, where no tool may write. It is compared with
// what it has to be before every use.
package shim
