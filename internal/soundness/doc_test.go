// Package soundness holds what is judged against what happens: commands that a policy
// allows are run by the real bash, and every program that starts and every file that is
// touched has to be among the acts that were judged.
//
// Commands are generated and mutated here, from a seed that is printed. They are judged
// and run in a jail of their own (bubblewrap, no network, a file system in memory), where
// every program is a spy that writes down its words and its folder before it becomes the
// real one, and where the kernel tells which files are opened, made, changed and removed.
//
//   - generate: a grammar of commands, and what mutates them
//   - jail: the process that has the spies, and how to talk to it
//   - worker: what runs in there: it judges, runs, watches and compares
//   - check: what counts as a difference
//
// A difference is a bug in the analysis or in the table of programs, or in what this
// package takes for one. It is reduced before it is shown: add it to testdata/seeds.txt.
package soundness
