package openai

import (
	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/worker"
	sdk "github.com/openai/openai-go/v3"
)

// A reader puts a turn together from the chunks of a stream.
type reader struct {
	endpoint  *model.Endpoint
	collector *model.Collector
	calls     map[int64]*call // those that may go on, by their index
	refusal   string
	reason    string // why the turn ended; empty while it has not
}

// A call is one that has begun.
type call struct {
	number int
	id     string
}

func (r *reader) chunk(c sdk.ChatCompletionChunk) error {
	if c.Usage.TotalTokens > 0 {
		r.collector.Usage = worker.Usage{
			Input: c.Usage.PromptTokens, Output: c.Usage.CompletionTokens,
			CacheRead: c.Usage.PromptTokensDetails.CachedTokens,
		}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // one was asked for
		}
		r.collector.Text(choice.Delta.Content)
		r.refusal += choice.Delta.Refusal
		for _, d := range choice.Delta.ToolCalls {
			r.call(d)
		}
		if choice.FinishReason != "" {
			r.reason = choice.FinishReason
		}
	}
	if err := r.collector.Check(); err != nil {
		return r.endpoint.Declined(err.Error())
	}
	return nil
}

// call takes a piece of a call. Its first piece has the name. Some servers give every
// call the same index and only the id tells them apart.
func (r *reader) call(d sdk.ChatCompletionChunkChoiceDeltaToolCall) {
	known := r.calls[d.Index]
	if known == nil || d.ID != "" && d.ID != known.id {
		known = &call{number: r.collector.Begin(d.ID, d.Function.Name), id: d.ID}
		r.calls[d.Index] = known
	}
	r.collector.Arguments(known.number, d.Function.Arguments)
}

// turn returns the turn if it ended as a turn does.
func (r *reader) turn() (worker.Turn, error) {
	switch r.reason {
	case "stop", "tool_calls":
	case "length":
		return worker.Turn{}, r.endpoint.Cut()
	default:
		return worker.Turn{}, r.endpoint.Declined(r.reason)
	}
	if r.refusal != "" {
		return worker.Turn{}, r.endpoint.Declined(r.refusal)
	}
	turn, err := r.collector.Turn()
	if err != nil {
		return worker.Turn{}, r.endpoint.Broken(err.Error())
	}
	return turn, nil
}
