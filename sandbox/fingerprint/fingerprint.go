// Package fingerprint identifies the machine that a sandbox was tried on (boot, kernel, user,
// namespaces, files), so that the result can be kept for the processes that follow. It is small:
// programs that only want to know a result link nothing else of the sandbox.
package fingerprint

// Bubblewrap is where bubblewrap is looked for. PATH is not asked: it may lead into a folder that a
// command can write.
var Bubblewrap = []string{"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"}

// MaxOwn is the size of the largest file that [ReadOwn] reads.
const MaxOwn = 64 << 10
