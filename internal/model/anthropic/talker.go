package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/worker"
)

const (
	// defaultURL is where Anthropic is.
	defaultURL = "https://api.anthropic.com/"
	// defaultMaxTokens is what every current model can say at once.
	defaultMaxTokens = 32_000
)

// A Talker is a model behind the Messages API.
type Talker struct {
	endpoint model.Endpoint
	messages sdk.MessageService
}

var _ worker.Talker = (*Talker)(nil)

// New returns the model at the endpoint.
func New(e model.Endpoint) (*Talker, error) {
	e.Provider, e.Default = "anthropic", defaultURL
	if e.MaxTokens <= 0 {
		e.MaxTokens = defaultMaxTokens
	}
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
	return &Talker{endpoint: e, messages: sdk.NewMessageService(options...)}, nil
}

// Talk implements [worker.Talker].
func (t *Talker) Talk(ctx context.Context, p worker.Prompt, l worker.Listener) (worker.Turn, error) {
	return model.Turn(ctx, &t.endpoint, p, l, t.params, t.stream)
}

func (t *Talker) stream(ctx context.Context, params sdk.MessageNewParams, c *model.Collector,
	heard func()) (worker.Turn, error) {
	stream := t.messages.NewStreaming(ctx, params)
	defer stream.Close()
	return t.read(stream, c, heard)
}

// read reads a stream up to the end of its message.
func (t *Talker) read(stream *ssestream.Stream[sdk.MessageStreamEventUnion], c *model.Collector,
	heard func()) (worker.Turn, error) {
	r := reader{endpoint: &t.endpoint, collector: c, blocks: map[int64]*block{}}
	for stream.Next() {
		heard()
		if err := r.event(stream.Current()); err != nil {
			return worker.Turn{}, err
		}
		if r.stopped {
			return r.turn()
		}
	}
	if err := stream.Err(); err != nil {
		return worker.Turn{}, t.fault(err)
	}
	return worker.Turn{}, t.endpoint.Broken("it ended before its end")
}

// fault translates an error of the library.
func (t *Talker) fault(err error) error {
	var refused *sdk.Error
	if errors.As(err, &refused) {
		answer := model.Answer{Status: refused.StatusCode, Code: string(refused.Type()), Detail: message(refused.RawJSON())}
		if refused.Response != nil {
			answer.After = model.RetryAfter(refused.Response.Header, time.Now())
		}
		return t.endpoint.Refused(answer)
	}
	return t.endpoint.Failed(err)
}

// message finds the words for people in an answer.
func message(raw string) string {
	var envelope struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(raw), &envelope) == nil && envelope.Error.Message != "" {
		return envelope.Error.Message
	}
	return raw
}
