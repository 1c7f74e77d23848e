package landlock

// Enforced is what a command is held to.
var Enforced = []string{
	"writes only in writable roots",
	"reads only in roots and the system's own programs, libraries and settings",
	"no network unless the profile says so",
	"no unix sockets",
	"no new namespaces, mounts, traces, keys, raw sockets or set-id files",
	"limits on file size, open files, output and time",
}

// NotEnforced is what a command is not held to.
var NotEnforced = []string{
	"protected or hidden paths inside roots: such a profile is refused",
	"modes, times and attributes of files that it owns, anywhere",
	"that files exist, and how large they are, anywhere",
	"other processes: they are seen, and those that leave their group outlive the command",
	"no private /tmp or home folder: there is none",
	"memory and processor time",
}
