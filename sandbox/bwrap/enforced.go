package bwrap

// Enforced is what a command is held to.
var Enforced = []string{
	"writes only in writable roots, and not in what is protected or masked there",
	"reads only in roots and the system's own programs, libraries and settings",
	"protected names cannot be made, renamed or reached through a renamed folder",
	"no network unless the profile says so, but a loopback of its own; with network by name, only connections that were agreed to",
	"no unix sockets, but those of the profile",
	"other processes cannot be seen or signalled",
	"no new namespaces, mounts, traces, keys, raw sockets or set-id files",
	"no terminal, no environment and no open files but those that were handed over",
	"private /tmp, home folder and shared memory, each with a size",
	"limits on file size, open files, output and time; everything ends together",
}

// NotEnforced is what a command is not held to.
func NotEnforced(root bool) []string {
	list := []string{
		"memory and processor time",
		"a hard link that was in a writable root before is the file itself, wherever else it lies",
		"a new repository in a new folder below a writable root",
	}
	if root {
		list = append(list,
			"the number of processes, because root starts it",
			"the modes of /dev/null and the other devices that are the host's own, because root starts it")
	}
	return list
}
