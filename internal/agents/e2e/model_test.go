//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// A model asks for one call after another, then says that it is done. How far it is stands in
// what it is sent: the results of the calls so far.
type model struct {
	t     *testing.T
	calls []string
	told  *results
}

// results are what the model was told of its calls, in order.
type results struct {
	mu  sync.Mutex
	all []string
}

// startModel starts a model that asks for these calls: each a command, the arguments of the tool
// that runs commands as JSON, or the name of another tool before its arguments.
func startModel(t *testing.T, calls ...string) string {
	t.Helper()
	url, _ := talk(t, calls...)
	return url
}

// talk starts a model, and returns what it was told later.
func talk(t *testing.T, calls ...string) (string, *results) {
	t.Helper()
	told := &results{}
	server := httptest.NewServer(model{t, calls, told})
	t.Cleanup(server.Close)
	return server.URL, told
}

// list returns what the model was told, and fails if that is not one result for each of so many
// calls.
func (r *results) list(t *testing.T, calls int) []string {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) != calls {
		t.Fatalf("the model was told of %d calls, and asked for %d: %q", len(r.all), calls, r.all)
	}
	return r.all
}

// heard keeps the results that a request tells of.
func (r *results) heard(all []json.RawMessage) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(all) > len(r.all) {
		r.all = nil
		for _, one := range all {
			r.all = append(r.all, string(one))
		}
	}
	return len(all)
}

// ServeHTTP answers as the provider would whose path it is. Everything else an agent may
// want to know is not there.
func (m model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Messages []struct{ Content json.RawMessage } // Anthropic
		Tools    []struct{ Name string }
		Input    []json.RawMessage // OpenAI
		Contents []struct {
			Parts []struct{ FunctionResponse json.RawMessage }
		} // Gemini
	}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&in) != nil {
		http.NotFound(w, r)
		return
	}
	var told []json.RawMessage
	switch {
	case strings.HasSuffix(r.URL.Path, "/v1/messages"):
		for _, message := range in.Messages {
			told = append(told, ofType(message.Content, "tool_result")...)
		}
		if len(in.Tools) > 0 {
			m.anthropic(w, m.told.heard(told))
		} else { // it asks for a title or the like
			m.anthropic(w, len(m.calls))
		}
	case strings.HasSuffix(r.URL.Path, "/responses"):
		for _, item := range in.Input {
			told = append(told, ofType(item, "function_call_output")...)
		}
		m.openAI(w, m.told.heard(told))
	case strings.HasSuffix(r.URL.Path, ":streamGenerateContent"):
		for _, content := range in.Contents {
			for _, part := range content.Parts {
				if part.FunctionResponse != nil {
					told = append(told, part.FunctionResponse)
				}
			}
		}
		m.gemini(w, m.told.heard(told))
	default:
		http.NotFound(w, r)
	}
}

// ofType returns the object, or those of a list, that have a type.
func ofType(data json.RawMessage, want string) (found []json.RawMessage) {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil {
		list = []json.RawMessage{data}
	}
	for _, one := range list {
		var o struct{ Type string }
		if json.Unmarshal(one, &o) == nil && o.Type == want {
			found = append(found, one)
		}
	}
	return found
}

// otherTool is a call of a tool that does not run commands.
var otherTool = regexp.MustCompile(`^(\w+) (\{.*)$`)

// call returns the tool and the arguments of a call. Shell and command are how the agent names the
// tool that runs commands, and its argument.
func (m model) call(n int, shell, command string) (tool, arguments string) {
	text := m.calls[n]
	if other := otherTool.FindStringSubmatch(text); other != nil && json.Valid([]byte(other[2])) {
		return other[1], other[2]
	}
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return shell, text
	}
	return shell, `{"` + command + `":` + quote(text) + `}`
}

func (m model) anthropic(w http.ResponseWriter, done int) {
	block, delta, stop := `{"type":"text","text":""}`, `{"type":"text_delta","text":"Done."}`, "end_turn"
	if done < len(m.calls) {
		tool, arguments := m.call(done, "Bash", "command")
		block = fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":%q,"input":{}}`, done, tool)
		delta = fmt.Sprintf(`{"type":"input_json_delta","partial_json":%s}`, quote(arguments))
		stop = "tool_use"
	}
	m.stream(w,
		`{"type":"message_start","message":{"id":"msg","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":`+block+`}`,
		`{"type":"content_block_delta","index":0,"delta":`+delta+`}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"`+stop+`","stop_sequence":null},"usage":{"output_tokens":1}}`,
		`{"type":"message_stop"}`)
}

func (m model) openAI(w http.ResponseWriter, done int) {
	item := `{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"Done."}]}`
	if done < len(m.calls) {
		tool, arguments := m.call(done, "exec_command", "cmd")
		item = fmt.Sprintf(`{"type":"function_call","id":"fc_%d","call_id":"call_%d","name":%q,"arguments":%s}`,
			done, done, tool, quote(arguments))
	}
	m.stream(w,
		`{"type":"response.created","response":{"id":"r"}}`,
		`{"type":"response.output_item.done","item":`+item+`}`,
		`{"type":"response.completed","response":{"id":"r","usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}}`)
}

func (m model) gemini(w http.ResponseWriter, done int) {
	part := `{"text":"Done."}`
	if done < len(m.calls) {
		tool, arguments := m.call(done, "run_shell_command", "command")
		part = `{"functionCall":{"name":"` + tool + `","args":` + arguments + `}}`
	}
	m.stream(w, `{"candidates":[{"index":0,"finishReason":"STOP","content":{"role":"model","parts":[`+part+`]}}],`+
		`"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`)
}

// stream sends events, each under the name of its type if it has one.
func (m model) stream(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, data := range events {
		var event struct{ Type string }
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			m.t.Errorf("%v: %s", err, data)
		}
		if event.Type != "" {
			fmt.Fprintf(w, "event: %s\n", event.Type)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
}

func quote(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}
