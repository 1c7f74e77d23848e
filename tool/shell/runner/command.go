package runner

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/assent-dev/assent/sandbox"
)

// What a [Command] that says nothing about it gets.
const (
	DefaultTimeout = 2 * time.Minute
	DefaultKeep    = 50_000
	DefaultMaxFile = 100_000_000
)

// ProxyAddress is where a command finds the proxy that [Command.Proxy] serves.
const ProxyAddress = "127.0.0.1:3128"

// A Command is what to run. The zero Command is refused.
type Command struct {
	// Text is the command in canonical form.
	Text string
	// Shell is the command line of the shell that interprets the text: a program that
	// calls inside.Main.
	Shell []string
	// Judge decides about each thing that the shell is about to do. Nil refuses all.
	Judge Judge
	// Ask are the builtins that are put to Judge before they run.
	Ask []string
	// Bash hands the text to bash itself, and Judge is not asked: for what the shell
	// cannot interpret.
	Bash bool
	// Dir is the folder that it starts in, an absolute path.
	Dir string
	// Env is what it knows of our environment; PWD and [Marker] are added.
	Env Environment
	// Call is the id of the call, which the marker begins with.
	Call string
	// Timeout ends it; zero is [DefaultTimeout].
	Timeout time.Duration
	// Keep is how many bytes of each stream are kept; zero is [DefaultKeep].
	Keep int
	// File, if not empty, is a file that is made and receives all output, both
	// streams as they come. It must not exist yet.
	File string
	// MaxFile is how large File may grow before the command is ended; zero is
	// [DefaultMaxFile].
	MaxFile int64
	// MaxOutput is how much it may print before it is ended, whoever keeps it; zero is
	// any amount.
	MaxOutput int64
	// Progress, if not nil, receives the last line of output so far, one a Write,
	// without its newline and cut to [MaxLine]. Writes do not overlap, and hold up the command.
	Progress io.Writer
	// Stdout and Stderr, if not nil, receive each stream as it comes. They hold up the command. If
	// they are the same, what is printed keeps its order, and the result has it as Stderr.
	Stdout, Stderr io.Writer
	// Signals are sent to everything in the foreground of the shell that interprets the text.
	Signals <-chan syscall.Signal
	// Sandbox, if not nil, holds the command to Profile. It gets no SIGTERM then: all of
	// it ends at once, also what it left in the background, unless that may Stay.
	Sandbox sandbox.Runner
	Profile sandbox.Profile
	// Tmp is a folder that is /tmp in the sandbox; empty gives the command its own.
	Tmp string
	// Proxy, if not nil, serves a listener on the command's own loopback at ProxyAddress,
	// until ctx ends. It is for a sandbox whose network is off.
	Proxy func(ctx context.Context, l net.Listener)
	// Clock, if not nil, is made to stop the command's time.
	Clock *Clock
	// Stay lets programs that the text started in the background go on in their sandbox.
	// They end with this program, or by [Running.End].
	Stay bool
}

func (c Command) withDefaults() Command {
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Keep <= 0 {
		c.Keep = DefaultKeep
	}
	if c.MaxFile <= 0 {
		c.MaxFile = DefaultMaxFile
	}
	return c
}

// argv returns the command line. See the package's documentation for bash's options.
func (c Command) argv() ([]string, error) {
	if !c.Bash {
		if len(c.Shell) == 0 {
			return nil, errors.New("no program is named that interprets commands; name assent-shell, or a program that calls inside.Main")
		}
		return c.Shell, nil
	}
	bash, err := Bash()
	return []string{bash, "--noprofile", "--norc", "-p", "-c", "--", c.Text, "bash"}, err
}

// own is the environment of the shell itself, which has that of the command from its order. The
// home is there too: a sandbox makes a private folder of that name.
func (c Command) own(marker string) []string {
	if c.Bash {
		return c.env(marker)
	}
	own := []string{Marker + "=" + marker, "GOGC=400"}
	for _, entry := range c.Env.entries {
		if strings.HasPrefix(entry, "HOME=") {
			own = append(own, entry)
		}
	}
	return own
}

// env returns the environment, with the marker of this call.
func (c Command) env(marker string) []string {
	env := c.Env.Entries()
	if c.Sandbox != nil && c.Profile.Wall.Writes && c.Env.Get("TMPDIR") == "" && slices.Contains(c.private(), sandbox.PrivateTmp) {
		env = append(env, "TMPDIR="+sandbox.PrivateTmp)
	}
	return append(env, "PWD="+c.Dir, Marker+"="+marker)
}

// private are the folders that the command has for itself.
func (c Command) private() []string { return c.Profile.Private(c.Env.Get("HOME")) }
