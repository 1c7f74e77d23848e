package worker

import (
	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// Call and Result are the types of what a model wants and gets, so that a model needs to
// know nothing but this package.
type (
	Call   = policy.Call
	Result = tool.Result
)

// A Turn is what a model says: text, and the calls that it wants.
type Turn struct {
	Text  string `json:"text,omitempty"`
	Calls []Call `json:"calls,omitempty"`
	// Usage is what the turn cost, as far as the model says it.
	Usage Usage `json:"usage,omitzero"`
}

// A Step is a turn and the results of its calls, in the same order.
type Step struct {
	Turn    Turn
	Results []Result
}

// A Watcher sees a run as it happens. Its methods are called one after another.
type Watcher interface {
	Listener
	// Turn is the turn that was heard, now that it is complete and before its calls are
	// judged.
	Turn(t Turn)
	// Results are how the calls of the turn ended, those of files that were to be shared
	// among them.
	Results(results []Result)
}
