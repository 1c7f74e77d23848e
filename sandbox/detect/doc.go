// Package detect finds the runner that can hold a profile on this machine, and says in
// words why others cannot.
//
// A runner is believed only after it was tried: a copy of this program is started under
// the profile, exactly as commands will be, and attempts what must fail. It writes and
// reads beside the roots, connects to a listener and a socket of this process, mounts,
// and opens the kernel's settings. Anything that succeeds makes the runner unusable. A
// probe that differs from the real call would prove nothing, and one that only sees
// whether a program starts would prove the opposite.
package detect
