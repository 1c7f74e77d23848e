// Package programs knows what programs do with their arguments: which files they
// read, write and delete, which hosts they talk to, which other programs they
// start, and what code they are handed.
//
// The knowledge is data: one entry a program in data/*.txt, in a small language
// that reads like a manual page (see data/README.md). An entry is parsed when it
// is first looked up. A [Reading] is what one invocation would do. The package is
// pure: it knows names and words, and asks nobody what is on disk.
//
// What it does not know it says: an unknown flag, an operand too many or a word
// that is only known when the command runs makes a reading that is not Known,
// and nothing treats that as harmless.
package programs
