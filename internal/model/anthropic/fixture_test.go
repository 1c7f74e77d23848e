package anthropic_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/assent-dev/assent/internal/model"
	"github.com/assent-dev/assent/internal/model/anthropic"
	"github.com/assent-dev/assent/internal/model/modeltest"
	"github.com/assent-dev/assent/internal/worker"
)

const secret = "sk-ant-REPLACED-0123456789abcdef"

// event is one event of a stream as the provider writes it.
func event(kind, data string) string { return fmt.Sprintf("event: %s\ndata: %s\n\n", kind, data) }

var (
	start = event("message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":20,"cache_read_input_tokens":100,"cache_creation_input_tokens":5,"output_tokens":1}}}`)
	ping  = event("ping", `{"type":"ping"}`)
	stop  = event("message_stop", `{"type":"message_stop"}`)
)

func open(index int, block string) string {
	return event("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, block))
}

func text(index int, pieces ...string) string {
	out := open(index, `{"type":"text","text":""}`)
	for _, p := range pieces {
		out += delta(index, "text_delta", "text", p)
	}
	return out + shut(index)
}

func delta(index int, kind, field, piece string) string {
	quoted, _ := json.Marshal(piece)
	return event("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":%q,%q:%s}}`, index, kind, field, quoted))
}

// use is a call whose arguments come in pieces.
func use(index int, id, name string, pieces ...string) string {
	out := open(index, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, id, name))
	for _, p := range pieces {
		out += delta(index, "input_json_delta", "partial_json", p)
	}
	return out + shut(index)
}

func shut(index int) string {
	return event("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index))
}

func reason(why string) string {
	return event("message_delta", fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":42}}`, why))
}

// said is a whole turn of text.
func said(words string) string { return start + ping + text(0, words) + reason("end_turn") + stop }

// talker returns a model at the server that does not wait between attempts.
func talker(t *testing.T, s *modeltest.Server, attempts int) *anthropic.Talker {
	t.Helper()
	m, err := anthropic.New(model.Endpoint{
		Model: "claude-test", BaseURL: s.URL, Key: secret, KeyName: "ANTHROPIC_API_KEY", Retry: modeltest.Hasty(attempts),
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
