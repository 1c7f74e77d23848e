// Package check looks at a file of configuration as a careful colleague would: what is
// wrong with it, what can never apply, what does not do what its own examples say, and what
// allows more than it seems to.
//
// It runs nothing, asks nobody, and leaves nothing behind.
package check
