// Package interp runs the syntax tree of a shell command as bash 5.2 would run its text,
// and asks before every program that it starts and every file that it opens.
//
// It is a fork of mvdan.cc/sh/v3/interp v3.14.1 (BSD 3-clause, see LICENSE beside this
// file). The reason is that the tree which was judged has to be what runs: text that is
// judged by one parser and run by another can be read in two ways. Upstream's interpreter
// has the handlers for it, but loses a handler's refusal in substitutions, pipelines and
// the background, and lacks much of what agents' commands use. FORK.md lists every change
// with its reason and has the report for upstream.
//
// # Two ideas
//
// A run has one gate ([Runner]). Every act that reaches outside passes it: a handler
// decides, and only then, with the gate still open, the act happens. The first refusal
// closes the gate, in whatever subshell, pipeline stage, substitution or trap it came up:
// from then on nothing is started or opened, everything that waits is woken, and
// [Runner.Run] returns the refusal. Programs that were already running are the caller's
// ([Runner.Children], [Runner.Terminate]).
//
// Every act names its place ([Act]): a position, and the text that it counts in. Acts of
// the judged tree have the [Judged] source. Text that appeared only at run time (eval,
// source, a trap, a value that bash evaluates again) has a source of its own, so that the
// caller can tell what it has seen before from what it has not.
//
// # Shells in one process
//
// Subshells are copies of the shell's state, run by goroutines where bash would fork. They
// share no state but the gate, and their descriptors are tables of their own. A subshell
// has no process id; $BASHPID, and $! for a group in the background, are then numbers above
// the highest that Linux gives out, which kill and wait of this shell understand. $! of a
// program in the background is its process id.
//
// # What is not supported
//
// [Unsupported] names what the interpreter does not have: job control, coproc, fc, bind and a
// few more. What comes up only at run time ends the run before it has an effect,
// with an [UnsupportedError]. It never goes on with something else.
package interp
