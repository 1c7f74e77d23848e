package bwrap

import (
	"errors"
	"strings"

	"github.com/assent-dev/assent/sandbox"
)

// Facts are what tells causes apart that bubblewrap words alike.
type Facts struct {
	// AppArmor says that AppArmor keeps programs without a profile from making user
	// namespaces (kernel.apparmor_restrict_unprivileged_userns).
	AppArmor bool
	// NoNamespaces says that user namespaces are switched off: none may be made
	// (user.max_user_namespaces), or not by ordinary users
	// (kernel.unprivileged_userns_clone).
	NoNamespaces bool
	// Container says that this program itself runs in a container.
	Container bool
}

// Diagnose puts into words why bubblewrap could not set up a sandbox, from what it said.
func Diagnose(said string, f Facts) *sandbox.Problem {
	p := &sandbox.Problem{Detail: lastLine(said)}
	says := func(words string) bool { return strings.Contains(said, words) }
	namespaces := says("setting up uid map") || says("new namespace failed") || says("RTM_NEWADDR") ||
		says("No permissions to create a new namespace") || says("unshare user ns") || says("creating new namespace")
	switch {
	case says("Can't mount proc"):
		p.Cause = "a new /proc cannot be mounted, because parts of this one are covered: that is how containers hide the host"
		p.Remedy = "run the container with its /proc uncovered (docker run --security-opt systempaths=unconfined), " +
			"or run assent outside of it"
	case namespaces && f.AppArmor:
		p.Cause = "user namespaces are restricted by AppArmor (kernel.apparmor_restrict_unprivileged_userns=1)"
		p.Remedy = "load the bwrap-userns-restrict profile (apt-get install apparmor-profiles, " +
			"then apparmor_parser -r on it), or set that sysctl to 0"
	case namespaces && f.NoNamespaces:
		p.Cause = "user namespaces are switched off on this machine"
		p.Remedy = "as root: sysctl -w user.max_user_namespaces=15000, and kernel.unprivileged_userns_clone=1 where that exists"
	case namespaces && f.Container:
		p.Cause = "this is a container that may not make namespaces"
		p.Remedy = "run the container with --security-opt seccomp=unconfined, or run assent outside of it"
	case namespaces:
		p.Cause = "the system does not let bubblewrap make a user namespace"
		p.Remedy = "see whether a security module or a container forbids it; the kernel's log says which"
	case says("seccomp"), says("SECCOMP"):
		p.Cause = "the kernel does not take the filter for system calls"
		p.Remedy = "use a kernel with CONFIG_SECCOMP_FILTER"
	default:
		p.Cause = "bubblewrap could not set up the sandbox"
		p.Remedy = "look at what it said"
	}
	return p
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

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

// ErrNotSetUp is what a caller is told if bubblewrap gave up before the command ran. What
// it said itself stands on the command's standard error.
var ErrNotSetUp = errors.New("bubblewrap could not set up the sandbox; what it said is on standard error, " +
	"and 'assent sandbox doctor' looks for the cause")
