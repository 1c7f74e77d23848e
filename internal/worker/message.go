package worker

import (
	"context"

	"github.com/assent-dev/assent/approval"
	"github.com/assent-dev/assent/tool"
)

// Call and Result are the types of what a model wants and gets, so that a model needs to
// know nothing but this package.
type (
	Call   = approval.Call
	Result = tool.Result
)

// A Turn is what a model says: text, and the calls that it wants.
type Turn struct {
	Text  string
	Calls []Call
	// Usage is what the turn cost, as far as the model says it.
	Usage Usage
}

// A Step is a turn and the results of its calls, in the same order.
type Step struct {
	Turn    Turn
	Results []Result
}

// A Model gives the next turn of a conversation. A turn without calls ends it.
type Model interface {
	Next(ctx context.Context, message string, steps []Step) (Turn, error)
}

// A Watcher sees a run as it happens.
type Watcher interface {
	Text(text string)
	Results(results []Result)
}
