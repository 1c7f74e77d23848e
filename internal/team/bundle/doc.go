// Package bundle is the signed policy of a team: what holds on all its machines, who decides about what, who
// the people are and which keys are theirs, and which machines there are.
//
// A bundle is a note (golang.org/x/mod/sumdb/note) that the team's key signed. Its text is the line
// "assent bundle 1" and one line of JSON. There is one spelling of each bundle: a text that differs in any
// byte from the one that [Sign] makes does not open.
package bundle
