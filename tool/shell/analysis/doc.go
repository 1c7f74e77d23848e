// Package analysis reads a shell command before it runs: which programs it would
// start, in which folder, and what they would do to which files and hosts.
//
// Three ideas carry it. Only one text is ever judged, shown and executed: the [Text],
// which is the parsed command printed again, or the original text where the printer would
// make another program of it. What runs is the tree that was judged; [Text.Printed] says
// whether a shell may be handed the text instead.
//
// What is not certain is said to be unknown: a word from a substitution, a folder after a
// `cd` to somewhere, code for an interpreter. Whoever judges may be as strict as they like
// about it, but nothing is left out of the parts. A variable's value is known only if the
// text assigns it once, in its straight line; see facts.go.
//
// Everything is bounded: values, words, expansions, scripts inside scripts, parts. A text
// that does more than is read is one unknown part, and only a person allows it.
//
// The package is pure over a [World]: what is on disk, in git's config and in
// the environment is asked from it.
package analysis
