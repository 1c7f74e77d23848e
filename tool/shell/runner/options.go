package runner

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/assent-dev/assent/sandbox"
	"github.com/assent-dev/assent/tool/shell"
)

// What a command gets if neither it nor its [Options] say.
const (
	DefaultTimeout = 2 * time.Minute
	DefaultKeep    = 50_000
	DefaultMaxFile = 100_000_000
)

// ProxyAddress is where a command finds the proxy that [Options.Proxy] serves.
const ProxyAddress = "127.0.0.1:3128"

// Options are what a command runs with, besides what was judged about it.
type Options struct {
	// Shell is the command line of the shell that interprets the text: a program that
	// calls inside.Main.
	Shell []string
	// Env is what it knows of our environment; PWD and [Marker] are added.
	Env Environment
	// Call is the id of the call, which the marker begins with.
	Call string
	// MaxKept is how many bytes of each stream are kept; zero is [DefaultKeep].
	MaxKept int
	// File, if not empty, is a file that is made and receives all output, both
	// streams as they come. It must not exist yet.
	File string
	// MaxFile is how large File may grow before the command is ended; zero is
	// [DefaultMaxFile].
	MaxFile int64
	// MaxOutput is how much it may print before it is ended, whoever keeps it; zero is
	// any amount.
	MaxOutput int64
	// Progress, if not nil, receives the last line of output so far, one a Write, cut to
	// [MaxLine] and ended with a newline even if the command has not ended it yet. Writes do not overlap, and
	// hold up the command.
	Progress io.Writer
	// Stdout and Stderr, if not nil, receive each stream as it comes. They hold up the command. If
	// they are the same, what is printed keeps its order, and the result has it as Stderr.
	Stdout, Stderr io.Writer
	// Signals are sent to everything in the foreground of the shell that interprets the text.
	Signals <-chan syscall.Signal
	// Sandbox, if not nil, holds the command to Profile. It gets no SIGTERM then: all of
	// it ends at once, also what it left in the background, unless that may stay.
	Sandbox sandbox.Runner
	Profile sandbox.Profile
	// Tmp is a folder that is /tmp in the sandbox; empty gives the command its own.
	Tmp string
	// Proxy, if not nil, serves a listener on the command's own loopback at ProxyAddress,
	// until ctx ends. It is for a sandbox whose network is off.
	Proxy func(ctx context.Context, l net.Listener)
	// Clock, if not nil, is made to stop the command's time.
	Clock *Clock
}

// started is what is started for a command that was judged.
func (o Options) started(c shell.Command, marker string) (sandbox.Command, error) {
	argv, err := o.argv(c)
	profile := o.Profile
	profile.Limits.Time, profile.Limits.Output = 0, 0 // both are seen to here
	s := sandbox.Command{Argv: argv, Dir: c.Dir, Env: o.own(marker), Enters: !c.Bash, Profile: profile, Tmp: o.Tmp}
	if c.Bash {
		s.Env = o.env(c.Dir, marker)
	}
	return s, err
}

// argv returns the command line. See the package's documentation for bash's options.
func (o Options) argv(c shell.Command) ([]string, error) {
	if !c.Bash {
		if len(o.Shell) == 0 {
			return nil, errors.New("no program is named that interprets commands; name assent-shell, or a program that calls inside.Main")
		}
		return o.Shell, nil
	}
	bash, err := Bash()
	return []string{bash, "--noprofile", "--norc", "-p", "-c", "--", c.Text, "bash"}, err
}

// own is the environment of the shell itself, which has that of the command from its order. The
// home is there too: a sandbox makes a private folder of that name.
func (o Options) own(marker string) []string {
	own := []string{Marker + "=" + marker, "GOGC=400"}
	for _, entry := range o.Env.entries {
		if strings.HasPrefix(entry, "HOME=") {
			own = append(own, entry)
		}
	}
	return own
}

// env returns the environment of a command in the folder, with the marker of this call.
func (o Options) env(dir, marker string) []string {
	env := o.Env.Entries()
	private := o.Sandbox != nil && o.Profile.Wall.Writes && slices.Contains(o.private(), sandbox.PrivateTmp)
	if private && o.Env.Get("TMPDIR") == "" {
		env = append(env, "TMPDIR="+sandbox.PrivateTmp)
	}
	return append(env, "PWD="+dir, Marker+"="+marker)
}

// private are the folders that the command has for itself.
func (o Options) private() []string { return o.Profile.Private(o.Env.Get("HOME")) }

// bashes are where bash is looked for. PATH is not asked: who can put a program there
// could put a shell there. What somebody installed over the system's own, as people
// do on macOS, comes first.
var bashes = []string{
	"/opt/homebrew/bin/bash",
	"/usr/local/bin/bash",
	"/bin/bash",
	"/usr/bin/bash",
	"/run/current-system/sw/bin/bash",
}

// Bash returns the path of the bash that commands run with.
func Bash() (string, error) {
	for _, path := range bashes {
		if isProgram(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no bash to run commands with, neither of %s; install bash", strings.Join(bashes, ", "))
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// Marker is the variable that every process of a call has in its environment. Its
// value is different for every call.
const Marker = "ASSENT_CALL"

// Inside reports whether this process was started by a tool call: the marker is in its
// own environment or, on Linux, was in that of a parent when that started. A process
// that cleared its environment, and left its parents behind or took the place of bash,
// is not recognised.
func Inside() bool {
	_, marked := os.LookupEnv(Marker)
	return marked || parentMarked()
}

// newMarker returns a value that begins with the id of the call and that nobody can
// have had before.
func newMarker(call string) string {
	name := strings.Map(func(c rune) rune {
		if strings.ContainsRune("-_.", c) || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' {
			return c
		}
		return -1
	}, call)
	return name[:min(len(name), 64)] + "." + rand.Text()
}
