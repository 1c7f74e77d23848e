// Package wire is what the two sides of a running command say to each other: the shell
// inside the sandbox, which interprets the judged tree, and the gate outside, which decides
// about each program that it starts and each file that it opens.
//
// The side outside sends an [Order]. The shell inside then sends an [Act] before each thing
// that reaches outside of it, and waits for the [Answer]; several may wait at a time. Its
// last message is an [End].
//
// Messages are lists of byte strings behind their length, not JSON: a file's name need not
// be UTF-8, and what is judged has to be what is used, byte for byte.
package wire
