package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
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
func (f *askFlags) mode() *policy.Mode {
	var mode policy.Mode
	switch {
	case f.strict:
		mode = policy.ModeStrict
	case f.approveAll:
		mode = policy.ModeApproveAll
	default:
		return nil
	}
	return &mode
}

// limited turns silence into a denial after a time, if that is not 0. It stands beside the
// one who is asked and not around: what times out is settled before anybody withdraws it.
func limited(a approval.Approver, after time.Duration) approval.Approver {
	if a == nil || after == 0 {
		return a
	}
	return approval.First(a, approval.Timeout(after, silence))
}

// silence is an approver that never answers.
var silence = approval.ApproverFunc(func(ctx context.Context, _ *approval.Request) (approval.Decision, error) {
	<-ctx.Done()
	return approval.Decision{}, context.Cause(ctx)
})
