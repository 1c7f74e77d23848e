// Package runner executes a shell command that was judged, in a session of its own: by our
// own shell (package inside), which asks a [shell.Judge] before each thing that it does, or, for
// what that cannot interpret, by bash.
//
// What a command can find out about us, or bring to bear on a shell before its first
// word, is kept small:
//
//   - our shell has an environment of its own, and that of the command from its order;
//     its standard input is the connection to us, which it takes away at once.
//   - bash runs as `bash --noprofile --norc -p -c -- TEXT bash`. With -p it obeys no
//     BASH_ENV, SHELLOPTS, BASHOPTS, CDPATH or GLOBIGNORE, and takes no functions from
//     the environment; --norc holds even where bash believes that it was started by
//     a remote login. The text is never read as an option, and $0 is "bash".
//   - The environment is an [Environment], which can only be made from a list of names.
//   - Standard input is empty, no descriptor but the first three is open, and there is
//     no controlling terminal: a password prompt fails instead of asking our person.
//   - Every process of the call has the variable [Marker] in its environment.
//
// A command ends when its shell does. Time running out, a cancelled context and too much
// output end it early: SIGTERM to the whole process group, a moment of grace,
// SIGKILL. On Linux the same goes to processes that left the group, as far as they
// still carry the call's marker or belong to its session; elsewhere those live on.
// If assent itself is killed, the kernel kills the shell (Linux), though not what that
// started. A process that the command left in the background on purpose is not
// ended; it is no longer listened to, and on Linux the result names it.
//
// In a sandbox ([Options.Sandbox]) all of that is simpler: whatever the command started,
// and wherever it hid, ends with it, and with assent; the result names what was left.
package runner
