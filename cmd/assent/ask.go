package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
)

// askFlags say who answers, for every command that runs an agent.
type askFlags struct {
	approveAll bool
	strict     bool
	onDeny     string
	askTimeout time.Duration
}

func (f *askFlags) register(c *cobra.Command) {
	c.Flags().BoolVar(&f.approveAll, "approve-all", false, "run whatever would be asked, except what only a person may answer")
	c.Flags().BoolVar(&f.strict, "strict", false, "refuse whatever would be asked")
	c.Flags().DurationVar(&f.askTimeout, "ask-timeout", 0, "turn silence into a denial after this time, such as 5m (default: no timeout)")
}

// registerOnDeny adds the flag of what goes on after a denial; a single call does not.
func (f *askFlags) registerOnDeny(c *cobra.Command) {
	c.Flags().StringVar(&f.onDeny, "on-deny", "continue", "what a denial does to the run: continue or stop")
}

// check refuses flags that contradict each other.
func (f *askFlags) check(c *cobra.Command) error {
	switch {
	case f.approveAll && f.strict:
		return misused(c, "--approve-all and --strict exclude each other")
	case f.onDeny != "" && f.onDeny != "continue" && f.onDeny != "stop":
		return misused(c, "--on-deny %q: it is continue or stop", f.onDeny)
	case f.askTimeout < 0:
		return misused(c, "--ask-timeout %v: it cannot be negative", f.askTimeout)
	}
	return nil
}

// mode is what the flags say about who answers; nil if they say nothing.
func (f *askFlags) mode() *approval.Mode {
	var mode approval.Mode
	switch {
	case f.strict:
		mode = approval.ModeStrict
	case f.approveAll:
		mode = approval.ModeApproveAll
	default:
		return nil
	}
	return &mode
}
