// Package bundle is the signed policy of a team: the rules for all its machines, the deciders, the people with their
// keys, and the machines.
//
// A bundle is a note (golang.org/x/mod/sumdb/note) that the team's key signed. Its text is the line
// "assent bundle 1" and one line of JSON. Each bundle has one spelling: a text that differs in any byte from the one
// that [Sign] makes does not open.
package bundle
