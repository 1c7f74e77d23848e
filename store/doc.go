// Package store keeps what must last: for now, the rules that a person saves.
//
// A [RuleFile] is a small file that several processes may share. It is written whole or not
// at all, readable by its owner only, and never overwritten if it cannot be understood.
package store
