package anthropic

import (
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/worker"
)

// A reader puts a turn together from the events of a stream.
type reader struct {
	endpoint  *model.Endpoint
	collector *model.Collector
	blocks    map[int64]*block // those that are open, by their index
	reason    sdk.StopReason
	started   bool
	stopped   bool // the message has come to its end
}

// A block is a part of the message that is under way.
type block struct {
	call  int    // the number of the call; -1 if it is none
	whole string // arguments that came at the beginning
	parts bool   // arguments came in parts
}

// event takes the next event. Kinds that it does not know are none of its business.
func (r *reader) event(e sdk.MessageStreamEventUnion) error {
	switch e.Type {
	case "message_start":
		r.started = true
		r.usage(e.Message.Usage.InputTokens, e.Message.Usage.CacheReadInputTokens,
			e.Message.Usage.CacheCreationInputTokens, e.Message.Usage.OutputTokens)
	case "content_block_start":
		r.begin(e)
	case "content_block_delta":
		return r.delta(e)
	case "content_block_stop":
		r.end(e.Index)
	case "message_delta":
		r.reason = e.Delta.StopReason
		r.usage(e.Usage.InputTokens, e.Usage.CacheReadInputTokens, e.Usage.CacheCreationInputTokens, e.Usage.OutputTokens)
	case "message_stop":
		r.stopped = true
	}
	if err := r.collector.Check(); err != nil {
		return r.endpoint.Declined(err.Error())
	}
	return nil
}

// usage keeps the counts, which later events repeat and raise. The provider counts what
// concerns the cache beside the input.
func (r *reader) usage(input, cacheRead, cacheWrite, output int64) {
	u := &r.collector.Usage
	u.CacheRead, u.CacheWrite = max(u.CacheRead, cacheRead), max(u.CacheWrite, cacheWrite)
	u.Input = max(u.Input, input+cacheRead+cacheWrite)
	u.Output = max(u.Output, output)
}

func (r *reader) begin(e sdk.MessageStreamEventUnion) {
	b := &block{call: -1}
	switch e.ContentBlock.Type {
	case "text":
		r.collector.Text(e.ContentBlock.Text)
	case "tool_use":
		b.call = r.collector.Begin(e.ContentBlock.ID, e.ContentBlock.Name)
		b.whole = e.ContentBlock.JSON.Input.Raw()
	}
	r.blocks[e.Index] = b
}

func (r *reader) delta(e sdk.MessageStreamEventUnion) error {
	b := r.blocks[e.Index]
	switch {
	case b == nil:
		return r.endpoint.Broken(fmt.Sprintf("part %d goes on without having begun", e.Index))
	case e.Delta.Type == "text_delta":
		r.collector.Text(e.Delta.Text)
	case e.Delta.Type == "input_json_delta" && b.call >= 0:
		b.parts = b.parts || e.Delta.PartialJSON != ""
		r.collector.Arguments(b.call, e.Delta.PartialJSON)
	}
	return nil
}

func (r *reader) end(index int64) {
	if b := r.blocks[index]; b != nil && b.call >= 0 && !b.parts {
		r.collector.Arguments(b.call, b.whole)
	}
	delete(r.blocks, index)
}

// turn returns the turn if the message is whole, and ended as a turn does.
func (r *reader) turn() (worker.Turn, error) {
	if !r.started || len(r.blocks) > 0 {
		return worker.Turn{}, r.endpoint.Broken("parts of it are missing")
	}
	switch r.reason {
	case sdk.StopReasonEndTurn, sdk.StopReasonToolUse, sdk.StopReasonStopSequence:
	case sdk.StopReasonMaxTokens:
		return worker.Turn{}, r.endpoint.Cut()
	case "":
		return worker.Turn{}, r.endpoint.Broken("it does not say why it ended")
	default:
		return worker.Turn{}, r.endpoint.Declined(string(r.reason))
	}
	turn, err := r.collector.Turn()
	if err != nil {
		return worker.Turn{}, r.endpoint.Broken(err.Error())
	}
	return turn, nil
}
