// Package canonical writes JSON in one way only, so that two texts that mean the same arguments
// are the same bytes, and refuses what can be read in two ways. It is pure.
package canonical
