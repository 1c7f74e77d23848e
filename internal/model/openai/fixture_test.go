package openai_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/model/modeltest"
	"github.com/assent-dev/assent/internal/model/openai"
	"github.com/assent-dev/assent/internal/worker"
)

const secret = "letmein-7f3a91c2" // it looks like no key that anybody knows

const done = "data: [DONE]\n\n"

// chunk is one chunk of a stream as the provider writes it.
func chunk(choice string) string {
	return fmt.Sprintf(`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[%s]}`+"\n\n", choice)
}

func text(piece string) string {
	quoted, _ := json.Marshal(piece)
	return chunk(fmt.Sprintf(`{"index":0,"delta":{"content":%s},"finish_reason":null}`, quoted))
}

// begin is the first piece of a call, more a further one.
func begin(index int, id, name, arguments string) string {
	quoted, _ := json.Marshal(arguments)
	return chunk(fmt.Sprintf(`{"index":0,"delta":{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]},"finish_reason":null}`, index, id, name, quoted))
}

func more(index int, arguments string) string {
	quoted, _ := json.Marshal(arguments)
	return chunk(fmt.Sprintf(`{"index":0,"delta":{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]},"finish_reason":null}`, index, quoted))
}

func reason(why string) string {
	return chunk(fmt.Sprintf(`{"index":0,"delta":{},"finish_reason":%q}`, why))
}

const usage = `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":120,"completion_tokens":42,"total_tokens":162,"prompt_tokens_details":{"cached_tokens":100}}}` + "\n\n"

func said(words string) string { return text(words) + reason("stop") + usage + done }

func talker(t *testing.T, s *modeltest.Server, attempts int) *openai.Talker {
	t.Helper()
	m, err := openai.New(model.Endpoint{
		Model: "gpt-test", BaseURL: s.URL + "/v1", Key: secret, KeyName: "OPENAI_API_KEY", Retry: modeltest.Hasty(attempts),
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// opened returns how tests that providers share open a model.
func opened(t *testing.T) modeltest.Open {
	return func(s *modeltest.Server) worker.Talker { return talker(t, s, 4) }
}

func prompt(words string, tools ...worker.Spec) worker.Prompt {
	return modeltest.Prompt(words, tools...)
}

func fault(t *testing.T, err error) *model.Fault {
	t.Helper()
	return modeltest.Fault(t, err, secret)
}
