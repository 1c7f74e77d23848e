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

// recording records where a call came from, and what was only observed as what it is: the agent
// was told nothing.
type recording struct {
	approval.DetailRecorder
	folder  string
	observe bool
}

const observed = "only observed: the agent was told nothing"

// Record implements [approval.Recorder].
func (r recording) Record(ctx context.Context, e approval.Event) error { return r.RecordFull(ctx, e) }

// RecordFull implements [approval.DetailRecorder].
func (r recording) RecordFull(ctx context.Context, e approval.Event) error {
	e.Folder = r.folder
	if r.observe {
		e.Stage, e.Note = approval.StageReleased, observed
	}
	return r.DetailRecorder.RecordFull(ctx, e)
}
