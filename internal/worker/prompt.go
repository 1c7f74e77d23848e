package worker

import (
	"context"
	"time"

	"github.com/assent-dev/assent/policy"
	"github.com/assent-dev/assent/tool"
)

// Spec is a tool's definition, as models are shown it.
type Spec = tool.Spec

// A Prompt is all that a model is told before a turn.
type Prompt struct {
	// Instructions are the worker's own; may be empty.
	Instructions string
	// Tools are those that the model may call.
	Tools []Spec
	// Rounds are what was said so far. The last one is under way.
	Rounds []Round
}

// A Round is a message and the steps that followed it.
type Round struct {
	Message Message
	Steps   []Step
}

// A Message is what a person, or the worker that called this one, says.
type Message struct {
	Text        string       `json:"text"`
	Attachments []Attachment `json:"attachments,omitempty"`
}

// An Attachment is a file that goes with a message. Text is passed as text, images and
// PDFs in the form that the provider has for them.
type Attachment struct {
	// Name is what the model is told; it need not be a path.
	Name string `json:"name"`
	// MediaType is such as image/png, application/pdf or text/plain.
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

// Usage counts the tokens of a turn, or of several.
type Usage struct {
	// Input are all tokens that the model read, those from a cache included.
	Input int64 `json:"input"`
	// CacheRead and CacheWrite are the part of Input that came from a cache, and the part
	// that was written to one.
	CacheRead  int64 `json:"cache_read,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
	Output     int64 `json:"output"`
}

// Add returns the sum.
func (u Usage) Add(o Usage) Usage {
	return Usage{
		Input: u.Input + o.Input, Output: u.Output + o.Output,
		CacheRead: u.CacheRead + o.CacheRead, CacheWrite: u.CacheWrite + o.CacheWrite,
	}
}

// A Talker is a model that is told everything it needs for a turn, keeps nothing between
// turns, and can be heard while it speaks. It is safe for concurrent use.
type Talker interface {
	// Talk returns the next turn, complete: nothing of a turn that was cut off is ever
	// returned. A turn without calls ends the round. The listener may be nil.
	Talk(ctx context.Context, p Prompt, l Listener) (Turn, error)
}

// A Listener hears a turn while it is being made. Its methods are called one after
// another, and hold up the turn.
type Listener interface {
	// Text is the next piece of what the model says.
	Text(piece string)
	// Again says that the turn failed and begins anew after a while: what was heard of it
	// is void.
	Again(after time.Duration, why error)
}

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
