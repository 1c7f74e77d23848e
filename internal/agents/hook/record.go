package hook

import (
	"context"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/internal/agents"
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

const observed = "only observed: the agent was told nothing"

// recorder records where a call came from, and what was only observed as what it is: the agent was
// told nothing.
func (d *evaluator) recorder() agents.Recorder {
	return agents.Recorder{DetailRecorder: d.store, Add: func(_ context.Context, e *approval.Event) {
		e.Folder = d.folder
		if d.observe {
			e.Stage, e.Note = approval.StageReleased, observed
		}
	}}
}
