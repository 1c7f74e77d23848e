// Package analysis reads a shell command before it runs: which programs it would
// start, in which folder, and what they would do to which files and hosts.
//
// Two ideas carry it. Only one text is ever judged, shown and executed: the
// canonical [Command], which is the parsed command printed again, until printing
// and parsing no longer change it. What the parser did not see is not in that
// text, so bash does not see it either. And what cannot be told is said to be
// unknown: a word from a substitution, a folder after a `cd` to somewhere, code
// for an interpreter. Whoever judges may be as strict as they like about it, but
// nothing is left out of the parts.
//
// The package is pure over a [World]: what is on disk, in git's config and in
// the environment is asked from it.
package analysis
