// Package refusal says whether a sandbox made a command fail, from facts and not from the
// tone of an error message.
//
// A command that was refused something says so in its own words, or not at all, and words
// like "sandbox" or "permission denied" stand in the output of commands that failed on
// their own. So two things that were known before the command ran are held against how it
// ended: the [sandbox.Profile], and what the command names, as far as it could be read. A
// refusal is certain if a file that the command names lies beyond the profile and the
// command, failing, names it too. It is likely if only one of the two is known. Of a
// command that succeeded nothing is said.
//
// The package is pure: what the host looks like is handed in. It is about what the system
// refused to a command that ran; what consent says of a call before it runs is the subject of
// internal/explain, which the packages of the sandbox may not know.
package refusal
