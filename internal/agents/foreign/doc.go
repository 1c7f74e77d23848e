// Package foreign says what the calls of other agents would do, so that they can be judged
// and shown like our own: as acts on files, commands and hosts, with a view that is built
// from what is on the disk.
//
// It runs nothing. Another agent will do what is said here by itself, a moment after it was
// told yes; so a [tool.Tool] of this package has no body, and its calls are released, never
// called. Files go by the paths of the host. What lies outside every root asks; assent's own
// folders and .git stay out of reach.
//
// An edit is shown as the diff that the agent's arguments make of the file as it is now, and
// the answer is bound to that file.
package foreign
