package host

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/assent-dev/assent/sandbox"
)

// Descriptors that a prelude knows and closes.
const (
	// GateFD is where it reports and waits: one end of a pair of connected sockets.
	GateFD = 6
	// LifeFD is only held: whoever reads its other end learns that no sandbox is being
	// set up any more.
	LifeFD = 7
)

// Prelude returns the command line that a command starts with, inside its sandbox: a
// shell that sets the limits, says that it is there, waits for a word, closes the gate
// and becomes the command. Nothing of the command runs before its caller has seen that
// all stands; if the caller is gone by then, nothing ever does.
//
// A shell is the cheapest program that can do this, and is there on every system. Limits
// above those that this program has itself are left out.
func Prelude(l sandbox.Limits, argv []string) []string {
	var b strings.Builder
	b.WriteString("ulimit -c 0\n")
	set := func(flag string, limit int64, own int) {
		if limit > 0 && !exceeds(limit, own) {
			fmt.Fprintf(&b, "ulimit -%s %d || exit 125\n", flag, limit)
		}
	}
	// A shell counts file sizes in blocks of 512 bytes.
	set("f", (l.FileSize+511)/512, none)
	set("n", l.OpenFiles, syscall.RLIMIT_NOFILE)
	if l.Processes > 0 {
		// bash calls it u, dash and busybox p.
		fmt.Fprintf(&b, "ulimit -u %[1]d 2>/dev/null || ulimit -p %[1]d || exit 125\n", l.Processes)
	}
	fmt.Fprintf(&b, "echo >&%[1]d && read -r go <&%[1]d || exit 125\nexec %[1]d>&- %[2]d>&-\nexec \"$@\"\n", GateFD, LifeFD)
	return append([]string{"/bin/sh", "-c", b.String(), "sh"}, argv...)
}

const none = -1

// exceeds reports whether a limit is more than what this program may use itself.
func exceeds(limit int64, resource int) bool {
	var own syscall.Rlimit
	if resource == none || syscall.Getrlimit(resource, &own) != nil {
		return false
	}
	return uint64(limit) > uint64(own.Max)
}
