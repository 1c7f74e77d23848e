package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/internal/setup/open"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/terminal"
)

// The exit statuses.
const (
	exitOK            = 0
	exitFailed        = 1
	exitUsage         = 2
	exitDenied        = 3
	exitNoSandbox     = 4
	exitPaused        = 5
	exitSandboxFailed = 125
	exitInterrupted   = 130
)

// exitStatus says how a command that ended with err ends the program.
func exitStatus(err error) int {
	var stopped *worker.StoppedError
	var status statusError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
		return status.status
	case errors.Is(err, open.ErrRequired):
		return exitNoSandbox
	case errors.As(err, new(usageError)):
		return exitUsage
	case errors.As(err, new(*worker.PausedError)):
		return exitPaused
	case errors.As(err, &stopped) && stopped.State != policy.StateDismissed, errors.Is(err, terminal.ErrStopped):
		return exitDenied
	case stopped != nil, errors.Is(err, terminal.ErrInterrupted), errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailed
}

// usageError is a mistake in the command line itself: nothing has run.
type usageError struct {
	what string // what is wrong, naming the word
	help string // the command line that helps
}

func (e usageError) Error() string {
	return fmt.Sprintf("%s; run '%s' to see what it takes", e.what, e.help)
}

// strict makes every mistake in a command line below c a usageError. It also lets a
// command that only groups others print its help alone, and refuse a word it does not
// know: cobra by itself answers both with help and success.
func strict(c *cobra.Command) {
	c.SetFlagErrorFunc(asUsage)
	if c.HasSubCommands() && !c.Runnable() {
		c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		if c.Args == nil {
			c.Args = knownCommand
		}
	}
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if lacks := missingArguments(c, args); err != nil && len(lacks) > 0 && !errors.As(err, new(usageError)) {
				return misused(c, "missing %s", strings.Join(lacks, " and ")) // cobra only counts them
			}
			return asUsage(c, err)
		}
	}
	for _, sub := range c.Commands() {
		strict(sub)
	}
}

// missingArguments are the words of c's usage line that args do not have. A line with choices or flags says no such thing.
func missingArguments(c *cobra.Command, args []string) []string {
	words := strings.Fields(c.Use)[1:]
	for i, w := range words {
		if strings.HasPrefix(w, "[") {
			words = words[:i]
			break
		}
		words[i] = strings.TrimRight(w, ".…")
	}
	if strings.ContainsAny(strings.Join(words, " "), "|-'") || len(args) >= len(words) {
		return nil
	}
	return words[len(args):]
}

// asUsage turns an error about c's flags or arguments into a usageError, and leaves nil
// and a finished usageError as they are.
func asUsage(c *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	if finished, ok := err.(usageError); ok {
		return finished
	}
	return misused(c, "%v", err)
}

// misused is a mistake in the command line of c.
func misused(c *cobra.Command, format string, args ...any) usageError {
	return usageError{what: fmt.Sprintf(format, args...), help: c.CommandPath() + " --help"}
}

// knownCommand refuses arguments that reach a grouping command: had they named a command
// of that group, they would have reached that one.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	what := fmt.Sprintf("unknown command %q", args[0])
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		what += fmt.Sprintf(" (did you mean %s?)", strings.Join(near, " or "))
	}
	return misused(c, "%s", what)
}

// untilSignal returns a context that ends with the first signal that means the run. Then
// signals are as they were before: a second one ends the program at once.
func untilSignal(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		defer signal.Stop(signals)
		for {
			select {
			case s := <-signals:
				if s == os.Interrupt && terminal.Lent() {
					continue // Ctrl-C in a pager or editor
				}
				cancel(signalled{s})
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

// signalled says which signal ended a run.
type signalled struct{ signal os.Signal }

func (e signalled) Error() string { return fmt.Sprintf("%s signal received", e.signal) }

// Is makes the error match [context.Canceled].
func (signalled) Is(target error) bool { return target == context.Canceled }
