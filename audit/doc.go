// Package audit is the chain of a log: each record carries the hash of the one before, a seal kept
// elsewhere binds all that came before it, and verification says what is not as it was recorded.
//
// The package is pure: it touches no file, no network and no clock. What is recorded it does not
// know; package approval has the events, package store keeps them.
package audit
