// Package arch keeps the shape of the module: who may import whom, which outside modules
// each package may use, which packages must stay pure, that every package says what it is
// for, and that no test skips itself or sleeps.
//
// The rules are data, in table.go. [Check] reads the source with go/parser, in process,
// and reports what breaks them; a test runs it on the module itself. A new package starts
// with a line in the table, so that its place is decided before its code is. Another test holds
// the names in docs/architecture.md to the source.
package arch
