// Package words reads what other agents write in their permission lists, and says it in rules of assent.
//
// An allow never becomes wider than the entry: what a rule cannot say is left out, and named. A deny never
// becomes narrower without a word: it is said a little wider, or [Reading.Missing] names the part that no rule covers.
//
// [Rule] is for what a person types, [Claude], [Cursor], [Opencode] and [Prefix] for the lists of the agents.
// Everything here is pure.
package words
