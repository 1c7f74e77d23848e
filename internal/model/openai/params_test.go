package openai_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/assent-dev/assent/internal/model/modeltest"
	"github.com/assent-dev/assent/internal/worker"
	"github.com/google/go-cmp/cmp"
)

func TestTheRequestAsTheProviderWantsIt(t *testing.T) {
	s := modeltest.NewServer(t, modeltest.Stream(said("Done.")))
	p := prompt("", tools...)
	p.Rounds = []worker.Round{
		{
			Message: worker.Message{Text: "Look.", Attachments: []worker.Attachment{
				{Name: "a.txt", Data: []byte("hello")},
				{Name: "a.png", MediaType: "image/png", Data: []byte{1, 2}},
				{Name: "a.pdf", MediaType: "application/pdf", Data: []byte("%PDF")},
			}},
			Steps: []worker.Step{{
				Turn: worker.Turn{Text: "So be it.", Calls: []worker.Call{
					{ID: "1", Tool: "read_file", Arguments: []byte(`{"path":"a"}`)},
					{ID: "2", Connector: "github", Tool: "create_issue", Arguments: []byte(`[1]`)},
				}},
				Results: []worker.Result{{ID: "1", Text: "content"}, {ID: "2", Text: "[DENIED] no", Err: errors.New("no")}},
			}, {}},
		},
		{Message: worker.Message{Text: "And now?"}},
	}
	if _, err := talker(t, s, 1).Talk(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
	const want = `{
		"model": "gpt-test", "stream": true, "stream_options": {"include_usage": true},
		"tools": [
			{"type": "function", "function": {"name": "read_file", "description": "Reads.", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}},
			{"type": "function", "function": {"name": "github__create_issue", "parameters": {"type": "object", "properties": {}}}}
		],
		"messages": [
			{"role": "system", "content": "Be brief."},
			{"role": "user", "content": [
				{"type": "text", "text": "File a.txt:\n\nhello"},
				{"type": "image_url", "image_url": {"url": "data:image/png;base64,AQI="}},
				{"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERg=="}},
				{"type": "text", "text": "Look."}
			]},
			{"role": "assistant", "content": "So be it.", "tool_calls": [
				{"id": "1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\":\"a\"}"}},
				{"id": "2", "type": "function", "function": {"name": "github__create_issue", "arguments": "{\"not_an_object\":\"[1]\"}"}}
			]},
			{"role": "tool", "tool_call_id": "1", "content": "content"},
			{"role": "tool", "tool_call_id": "2", "content": "[DENIED] no"},
			{"role": "user", "content": "And now?"}
		]
	}`
	r := s.Requests()[0]
	if r.Path != "/v1/chat/completions" {
		t.Errorf("path %s", r.Path)
	}
	if diff := cmp.Diff(decode(t, want), decode(t, r.Body)); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func decode(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}
