// Package prelude is the handshake with which a command begins inside its sandbox: it takes its
// limits, says that it is there, and waits for a word. Nothing of the command runs before its caller has
// seen that all stands; if the caller is gone by then, nothing ever does.
//
// For most commands a shell does it ([Shell]): the cheapest program that can, and there on
// every system. A program of our own does it itself, with [Enter], and saves that start.
package prelude

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

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

// Shell returns the command line that a command starts with. Limits above those that this
// program has itself are left out.
func Shell(l sandbox.Limits, argv []string) []string {
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
	fmt.Fprintf(&b, "echo >&%[1]d && read -r go <&%[1]d || exit 125\nexec %[1]d>&- %[2]d>&-\nexec \"$@\"\n",
		GateFD, LifeFD)
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

// word begins the argument that tells a program of ours to do it itself.
const word = "prelude="

// Own returns the command line of a program that calls [Enter].
func Own(l sandbox.Limits, argv []string) []string {
	limits := fmt.Sprintf("%s%d,%d,%d", word, l.FileSize, l.OpenFiles, l.Processes)
	return append(slices.Clone(argv), limits)
}

// Enter begins the prelude if the arguments of this program ask for it. The program may then
// get ready, and must call wait before it does anything of its command.
func Enter(args []string) (wait func() error, err error) {
	if len(args) == 0 || !strings.HasPrefix(args[0], word) {
		return func() error { return nil }, nil
	}
	if err := limit(strings.Split(args[0][len(word):], ",")); err != nil {
		return nil, err
	}
	if _, err := unix.Write(GateFD, []byte("\n")); err != nil {
		return nil, err
	}
	return func() error {
		var start [1]byte
		if n, err := unix.Read(GateFD, start[:]); n != 1 {
			return errors.Join(errors.New("the sandbox is not in place"), err)
		}
		return errors.Join(unix.Close(GateFD), unix.Close(LifeFD))
	}, nil
}

// limit takes limits: the size of files, how many are open, and processes.
func limit(texts []string) error {
	set := func(resource int, value uint64) error {
		var own syscall.Rlimit
		if err := syscall.Getrlimit(resource, &own); err != nil {
			return err
		}
		value = min(value, uint64(own.Max))
		return syscall.Setrlimit(resource, &syscall.Rlimit{Cur: value, Max: value})
	}
	if err := set(syscall.RLIMIT_CORE, 0); err != nil {
		return err
	}
	for i, resource := range []int{syscall.RLIMIT_FSIZE, syscall.RLIMIT_NOFILE, unix.RLIMIT_NPROC} {
		if i >= len(texts) {
			return errors.New("limits are missing")
		}
		n, err := strconv.ParseUint(texts[i], 10, 63)
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		if err := set(resource, n); err != nil {
			return err
		}
	}
	return nil
}
