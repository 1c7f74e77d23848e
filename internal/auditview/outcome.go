package auditview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/policy"
)

// states, stages and groups are the words by which records can be looked for. A stage that
// is called like a state is left out: the state is meant.
var (
	allowed = []policy.State{
		policy.StateApproved, policy.StateAutoApproved, policy.StateSessionApproved, policy.StateModeApproved, policy.StateFree,
	}
	refused = []policy.State{
		policy.StateDenied, policy.StateAutoDenied, policy.StateModeDenied, policy.StateDismissed, policy.StateExpired, policy.StateBlocked, policy.StateInvalid,
	}
	states = slices.Concat(allowed, refused, []policy.State{policy.StateAnswered, policy.StateHandedOver})
	stages = []approval.Stage{
		approval.StageExecuting, approval.StageCompleted, approval.StageFailed, approval.StageCancelled,
		approval.StageSuspended, approval.StageUnknown, approval.StageReleased,
	}
)

// The groups of states.
const (
	allowedWord = "allowed"
	refusedWord = "refused"
)

// FilterOutcome makes a filter want calls that were answered so (denied), that ended so
// (failed), or that were allowed or refused in whatever way.
func FilterOutcome(f *approval.RecordFilter, word string) error {
	switch {
	case word == allowedWord:
		f.States = allowed
	case word == refusedWord:
		f.States = refused
	case slices.Contains(states, policy.State(word)):
		f.States = []policy.State{policy.State(word)}
	case slices.Contains(stages, approval.Stage(word)):
		f.Stage = approval.Stage(word)
	default:
		return fmt.Errorf("there is no %q; it is one of %s; %s and %s mean several", word, list(states, stages), allowedWord, refusedWord)
	}
	return nil
}

func list(states []policy.State, stages []approval.Stage) string {
	var out []string
	for _, s := range states {
		out = append(out, string(s))
	}
	for _, s := range stages {
		out = append(out, string(s))
	}
	return strings.Join(out, ", ")
}
