package openai

import (
	"io"
	"net/http"
	"strings"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/worker"
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

// Read returns the turn in the body of an answer.
func Read(body string) (worker.Turn, error) {
	names, err := model.NewNames(nil)
	if err != nil {
		return worker.Turn{}, err
	}
	answer := &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	stream := ssestream.NewStream[sdk.ChatCompletionChunk](ssestream.NewDecoder(answer), nil)
	return new(Talker).read(stream, model.NewCollector(names, nil), func() {})
}
