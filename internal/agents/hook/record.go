package hook

import (
	"context"

	"github.com/assent-dev/assent/approval"
)

// remembering is what a gate asks for what is kept.
type remembering interface {
	approval.RuleStore
	approval.Switch
	approval.GrantStore
}

// quiet hides that a store tells of changes: a call that nobody is asked about ends before
// there could be one, and listening takes time.
type quiet struct{ remembering }

// observing records what would have happened as what it is: the agent was told nothing.
type observing struct{ approval.DetailRecorder }

const observed = "only observed: the agent was told nothing"

// Record implements [approval.Recorder].
func (o observing) Record(ctx context.Context, e approval.Event) error { return o.RecordFull(ctx, e) }

// RecordFull implements [approval.DetailRecorder].
func (o observing) RecordFull(ctx context.Context, e approval.Event) error {
	e.Stage, e.Note = approval.StageReleased, observed
	return o.DetailRecorder.RecordFull(ctx, e)
}
