package openai

import (
	"context"
	"errors"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/worker"
)

// defaultURL is where OpenAI is.
const defaultURL = "https://api.openai.com/v1/"

// A Talker is a model behind the Chat Completions API.
type Talker struct {
	endpoint    model.Endpoint
	completions sdk.ChatCompletionService
}

var _ worker.Talker = (*Talker)(nil)

// New returns the model at the endpoint.
func New(e model.Endpoint) (*Talker, error) {
	e.Provider, e.Default = "openai", defaultURL
	if err := e.Check(); err != nil {
		return nil, err
	}
	// The service is made by itself and not from the library's client, which would read
	// keys, addresses and headers from the environment.
	options := []option.RequestOption{
		option.WithBaseURL(e.URL()), option.WithHTTPClient(e.Client()), option.WithMaxRetries(0),
	}
	if e.Key != "" {
		options = append(options, option.WithAPIKey(e.Key))
	}
	return &Talker{endpoint: e, completions: sdk.NewChatCompletionService(options...)}, nil
}

// Talk implements [worker.Talker].
func (t *Talker) Talk(ctx context.Context, p worker.Prompt, l worker.Listener) (worker.Turn, error) {
	return model.Turn(ctx, &t.endpoint, p, l, t.params, t.stream)
}

func (t *Talker) stream(ctx context.Context, params sdk.ChatCompletionNewParams, c *model.Collector,
	heard func()) (worker.Turn, error) {
	stream := t.completions.NewStreaming(ctx, params)
	defer stream.Close()
	return t.read(stream, c, heard)
}

// read reads a stream to its end: the counts come after the reason for the end.
func (t *Talker) read(stream *ssestream.Stream[sdk.ChatCompletionChunk], c *model.Collector,
	heard func()) (worker.Turn, error) {
	r := reader{endpoint: &t.endpoint, collector: c, calls: map[int64]*call{}}
	for stream.Next() {
		heard()
		if err := r.chunk(stream.Current()); err != nil {
			return worker.Turn{}, err
		}
	}
	if err := stream.Err(); err != nil {
		return worker.Turn{}, t.fault(err)
	}
	if r.reason == "" {
		return worker.Turn{}, t.endpoint.Broken("it ended before its end")
	}
	return r.turn()
}

// fault translates an error of the library.
func (t *Talker) fault(err error) error {
	var refused *sdk.Error
	if errors.As(err, &refused) {
		answer := model.Answer{Status: refused.StatusCode, Code: refused.Code, Detail: refused.Message}
		if answer.Detail == "" {
			answer.Detail = refused.RawJSON()
		}
		if refused.Response != nil {
			answer.After = model.RetryAfter(refused.Response.Header, time.Now())
		}
		return t.endpoint.Refused(answer)
	}
	var inside *ssestream.StreamError
	if errors.As(err, &inside) {
		return t.endpoint.Broken(inside.Message)
	}
	return t.endpoint.Failed(err)
}
