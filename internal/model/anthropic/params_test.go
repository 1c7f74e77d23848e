package anthropic_test

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
				{Name: "a.txt", MediaType: "text/plain", Data: []byte("hello")},
				{Name: "a.png", MediaType: "image/png", Data: []byte{1, 2}},
				{Name: "a.pdf", MediaType: "application/pdf", Data: []byte("%PDF")},
			}},
			Steps: []worker.Step{{
				Turn: worker.Turn{Text: "So be it.", Calls: []worker.Call{
					{ID: "1", Tool: "read_file", Arguments: []byte(`{"path":"a"}`)},
					{ID: "2", Connector: "github", Tool: "create_issue", Arguments: []byte(`"{\"half"`)},
					{ID: "3", Tool: "gone", Arguments: []byte(`{}`)},
				}},
				Results: []worker.Result{{ID: "1", Text: ""}, {ID: "2", Text: "[DENIED] no", Err: errors.New("no")}},
			}, {}},
		},
		{Message: worker.Message{Text: "And now?"}},
	}
	if _, err := talker(t, s, 1).Talk(t.Context(), p, nil); err != nil {
		t.Fatal(err)
	}
	const want = `{
		"model": "claude-test", "max_tokens": 32000, "stream": true,
		"system": [{"type": "text", "text": "Be brief."}],
		"tools": [
			{"name": "read_file", "description": "Reads.", "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": false}},
			{"name": "github__create_issue", "input_schema": {"type": "object", "properties": {}}}
		],
		"messages": [
			{"role": "user", "content": [
				{"type": "text", "text": "File a.txt:\n\nhello"},
				{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AQI="}},
				{"type": "document", "title": "a.pdf", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="}},
				{"type": "text", "text": "Look."}
			]},
			{"role": "assistant", "content": [
				{"type": "text", "text": "So be it."},
				{"type": "tool_use", "id": "1", "name": "read_file", "input": {"path": "a"}},
				{"type": "tool_use", "id": "2", "name": "github__create_issue", "input": {"not_an_object": "\"{\\\"half\""}},
				{"type": "tool_use", "id": "3", "name": "gone", "input": {}}
			]},
			{"role": "user", "content": [
				{"type": "tool_result", "tool_use_id": "1", "is_error": false, "content": [{"type": "text", "text": "(empty)"}]},
				{"type": "tool_result", "tool_use_id": "2", "is_error": true, "content": [{"type": "text", "text": "[DENIED] no"}]},
				{"type": "tool_result", "tool_use_id": "3", "is_error": true, "content": [{"type": "text", "text": "[INTERRUPTED] The run was interrupted; this call has no result."}]}
			]},
			{"role": "user", "content": [{"type": "text", "text": "And now?"}]}
		]
	}`
	r := s.Requests()[0]
	if r.Path != "/v1/messages" {
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

func TestWhatCannotBeSaidIsAnErrorBeforeAnythingIsSent(t *testing.T) {
	s := modeltest.NewServer(t)
	for name, m := range map[string]worker.Message{
		"nothing": {},
		"blanks":  {Text: " \n"},
		"binary":  {Text: "x", Attachments: []worker.Attachment{{Name: "a.zip", MediaType: "application/zip", Data: []byte{0, 1}}}},
	} {
		p := worker.Prompt{Rounds: []worker.Round{{Message: m}}}
		if _, err := talker(t, s, 1).Talk(t.Context(), p, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
