package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

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
		c.Args = func(c *cobra.Command, args []string) error { return asUsage(c, check(c, args)) }
	}
	for _, sub := range c.Commands() {
		strict(sub)
	}
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
