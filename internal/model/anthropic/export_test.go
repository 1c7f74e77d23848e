package anthropic

import (
	"io"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/worker"
)

// Read returns the turn in the body of an answer.
func Read(body string) (worker.Turn, error) {
	names, err := model.NewNames(nil)
	if err != nil {
		return worker.Turn{}, err
	}
	answer := &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	stream := ssestream.NewStream[sdk.MessageStreamEventUnion](ssestream.NewDecoder(answer), nil)
	return new(Talker).read(stream, model.NewCollector(names, nil), func() {})
}
