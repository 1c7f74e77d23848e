// Package seccomp assembles the filter that stands between a sandboxed process and the
// kernel: which system calls it can make, and with which arguments.
//
// Mounts and namespaces decide what a process sees; the filter closes the doors that they
// leave open. It denies what reaches other processes (ptrace), the kernel's own machinery
// (mounts, modules, keys, bpf, io_uring), new namespaces, the terminal that the command
// was started from (TIOCSTI), every kind of socket but those of the internet, and files
// that run as their owner (set-id bits).
//
// Three things keep a filter from being walked around, and come first: another
// architecture's entry to the kernel ends the process; the x32 numbers of x86-64 do not
// exist; and where an argument lies behind a pointer that the filter cannot follow
// (clone3, openat2), the call does not exist either, and programs fall back to the one
// whose arguments can be seen. Of arguments that the kernel takes for 32 bits only those
// 32 are compared.
//
//	code, err := seccomp.Assemble(seccomp.Options{Arch: runtime.GOARCH, Internet: true})
//	…
//	seccomp.Bytes(code) // for bwrap --seccomp, or seccomp(2)
//
// The package is pure, so that the filter of every architecture is tested on each.
package seccomp
